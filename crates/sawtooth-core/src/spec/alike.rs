//! What follows from a flow's parameters is found out once for those that are alike.

use super::flow::FlowSpec;

/// What has been found out of the last flow, which holds for the next one if that is like it: flows of one block follow each other.
#[derive(Debug)]
pub(crate) struct OfAlike<'a, T> {
    last: Option<(&'a FlowSpec, T)>,
}

impl<'a, T: Clone> OfAlike<'a, T> {
    pub(crate) fn new() -> Self {
        Self { last: None }
    }

    /// What `find` says of the flow, or has said of one like it.
    pub(crate) fn of(&mut self, flow: &'a FlowSpec, find: impl FnOnce() -> T) -> T {
        match &self.last {
            Some((last, found)) if last.is_like(flow) => found.clone(),
            _ => {
                let found = find();
                self.last = Some((flow, found.clone()));
                found
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Value;

    #[test]
    fn flows_are_alike_while_they_share_their_parameters() {
        let one = FlowSpec::new("one", vec![0]);
        let like_it = FlowSpec {
            name: "other".to_owned(),
            path: vec![1],
            ..one.clone()
        };
        let mut changed = like_it.clone();
        changed.tcp.set("smss", Value::Bytes(500));
        let mut found = OfAlike::new();
        assert_eq!(found.of(&one, || 1), 1);
        assert_eq!(found.of(&like_it, || 2), 1);
        assert_eq!(found.of(&changed, || 3), 3);
        assert_eq!(found.of(&one, || 4), 4);
    }
}
