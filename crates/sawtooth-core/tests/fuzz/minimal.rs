//! Makes a scenario that does what none may as small as it can be while it still does.

use serde_json::Value;

/// Leaves out whatever can be, one key or item after the other, for as long as anything goes; `fails` is asked at most `tries` times.
pub fn minimal(tree: &Value, mut tries: usize, mut fails: impl FnMut(&Value) -> bool) -> Value {
    let mut tree = tree.clone();
    loop {
        let mut pointers = Vec::new();
        collect(&tree, "", &mut pointers);
        // Large parts first, and of lists the last item first, so that the numbers of the others stay what they are.
        pointers.sort_by_key(|pointer| pointer.matches('/').count());
        let mut smaller_yet = false;
        for pointer in &pointers {
            if tries == 0 {
                return tree;
            }
            let mut smaller = tree.clone();
            if !remove(&mut smaller, pointer) {
                continue;
            }
            tries -= 1;
            if fails(&smaller) {
                tree = smaller;
                smaller_yet = true;
            }
        }
        if !smaller_yet {
            return tree;
        }
    }
}

fn collect(tree: &Value, at: &str, into: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match tree {
        Value::Object(keys) => keys
            .iter()
            .map(|(key, value)| (format!("{at}/{key}"), value))
            .collect(),
        Value::Array(items) => {
            let items = items.iter().enumerate().rev();
            items
                .map(|(number, value)| (format!("{at}/{number}"), value))
                .collect()
        }
        _ => Vec::new(),
    };
    for (pointer, value) in children {
        collect(value, &pointer, into);
        into.push(pointer);
    }
}

fn remove(tree: &mut Value, pointer: &str) -> bool {
    let Some((holder, last)) = pointer.rsplit_once('/') else {
        return false;
    };
    match tree.pointer_mut(holder) {
        Some(Value::Object(keys)) => keys.remove(last).is_some(),
        Some(Value::Array(items)) => {
            let at = last.parse::<usize>().ok().filter(|at| *at < items.len());
            at.map(|at| items.remove(at)).is_some()
        }
        _ => false,
    }
}
