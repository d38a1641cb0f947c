//! Which modules of its own crate a Rust source names: in `use` declarations however they are grouped and broken, and in paths anywhere else.
//!
//! Comments, strings and characters are no code. A path begins with `crate`, `self` or `super`; a group after `::` branches it. Names that a
//! declaration has brought in are not followed: the declaration is what counts.

/// The paths from the crate's root that `source` names, in their order, with the line of each; `module` is the path of the file's own module.
pub fn named(source: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    let mut modules = vec![module.to_vec()];
    // Of every open brace, whether it is that of a module.
    let mut braces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let here = modules.last().expect("the file's own module").clone();
        match text(&tokens, at) {
            "mod" if text(&tokens, at + 2) == "{" => {
                modules.push([here, vec![text(&tokens, at + 1).to_owned()]].concat());
                braces.push(true);
                at += 3;
            }
            "{" => {
                braces.push(false);
                at += 1;
            }
            "}" => {
                if braces.pop() == Some(true) {
                    modules.pop();
                }
                at += 1;
            }
            "crate" | "self" | "super"
                if text(&tokens, at + 1) == "::" && before(&tokens, at) != "::" =>
            {
                at = tree(&tokens, at, &here, &mut found);
            }
            _ => at += 1,
        }
    }
    found
}

/// Reads one path, or one branch of a group, from `at` on, below `prefix`; the place after it.
fn tree(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let line = tokens[at].line;
    let mut path = prefix.to_vec();
    loop {
        match text(tokens, at) {
            "{" => {
                at += 1;
                while !matches!(text(tokens, at), "}" | "") {
                    at = if text(tokens, at) == "," {
                        at + 1
                    } else {
                        tree(tokens, at, &path, found)
                    };
                }
                return at + 1;
            }
            "crate" => path.clear(),
            "self" => {}
            "super" => {
                path.pop();
            }
            name => path.push(name.to_owned()),
        }
        at += 1;
        if text(tokens, at) != "::" {
            break;
        }
        at += 1;
        // What follows a turbofish is no part of the path.
        if text(tokens, at) == "<" {
            break;
        }
    }
    found.push((line, path));
    // `a as b` names nothing else.
    if text(tokens, at) == "as" { at + 2 } else { at }
}

#[derive(Clone, Debug)]
struct Token {
    text: String,
    line: usize,
}

fn text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| &token.text)
}

fn before(tokens: &[Token], at: usize) -> &str {
    at.checked_sub(1).map_or("", |before| text(tokens, before))
}

/// Words, `::` and single other characters; without comments, strings, characters and lifetimes.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < chars.len() {
        let start = at;
        let is = |offset: usize, wanted: char| chars.get(start + offset) == Some(&wanted);
        match chars[at] {
            '/' if is(1, '/') => at = skip(&chars, at, |rest| rest[0] == '\n'),
            '/' if is(1, '*') => at = block_comment_end(&chars, at),
            '"' => at = string_end(&chars, at),
            'r' | 'b' | 'c' if let Some(end) = prefixed_literal_end(&chars, at) => at = end,
            '\'' => at = quote_end(&chars, at),
            ':' if is(1, ':') => {
                tokens.push(Token {
                    text: "::".to_owned(),
                    line,
                });
                at += 2;
            }
            letter if letter.is_alphanumeric() || letter == '_' => {
                at = skip(&chars, at, |rest| {
                    !(rest[0].is_alphanumeric() || rest[0] == '_')
                });
                let text = chars[start..at].iter().collect();
                tokens.push(Token { text, line });
            }
            other => {
                if !other.is_whitespace() {
                    tokens.push(Token {
                        text: other.to_string(),
                        line,
                    });
                }
                at += 1;
            }
        }
        line += chars[start..at]
            .iter()
            .filter(|char| **char == '\n')
            .count();
    }
    tokens
}

/// The first place from `at` on where `ends` holds, or the end.
fn skip(chars: &[char], at: usize, ends: impl Fn(&[char]) -> bool) -> usize {
    (at..chars.len())
        .find(|place| ends(&chars[*place..]))
        .unwrap_or(chars.len())
}

/// Block comments nest.
fn block_comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match chars[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut at = at + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// `r"..."`, `br#"..."#`, `b"..."`, `c"..."`, `b'x'`: the end, if it is one and not the beginning of a word. A raw identifier is `r#name`.
fn prefixed_literal_end(chars: &[char], at: usize) -> Option<usize> {
    let letters = skip(chars, at, |rest| !matches!(rest[0], 'r' | 'b' | 'c'));
    let raw = chars[at..letters].contains(&'r');
    let quote = skip(chars, letters, |rest| rest[0] != '#' || !raw);
    match chars.get(quote) {
        Some('"') if raw => {
            let hashes = quote - letters;
            let closing = |rest: &[char]| {
                rest[0] == '"'
                    && rest.len() > hashes
                    && rest[1..=hashes].iter().all(|char| *char == '#')
            };
            Some((skip(chars, quote + 1, closing) + 1 + hashes).min(chars.len()))
        }
        Some('"') => Some(string_end(chars, quote)),
        Some('\'') if chars[at..quote] == ['b'] => Some(quote_end(chars, quote)),
        _ => None,
    }
}

/// The end of a character, or of a lifetime's quote.
fn quote_end(chars: &[char], at: usize) -> usize {
    match chars[at + 1..] {
        ['\\', _, ..] => skip(chars, at + 3, |rest| rest[0] == '\'') + 1,
        [_, '\'', ..] => at + 3,
        _ => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    fn paths(source: &str) -> Vec<String> {
        let module = ["cc".to_owned(), "bbr".to_owned()];
        named(source, &module)
            .into_iter()
            .map(|(_, path)| path.join("::"))
            .collect()
    }

    #[test]
    fn a_group_over_several_lines_names_all_its_branches() {
        let source = "use crate::{\n    tcp::{self, Config as Tcp, recovery::{rack::Rack, sack}},\n    sim,\n};";
        let expected = [
            "tcp",
            "tcp::Config",
            "tcp::recovery::rack::Rack",
            "tcp::recovery::sack",
            "sim",
        ];
        assert_eq!(paths(source), expected);
        assert_eq!(paths("use {crate::sim::World, std::fmt};"), ["sim::World"]);
    }

    #[test]
    fn paths_in_code_types_and_attributes_count() {
        let source =
            "fn f(a: &crate::link::Link) -> Vec<crate::sim::World> { crate::tcp::new::<u8>(a) }";
        assert_eq!(paths(source), ["link::Link", "sim::World", "tcp::new"]);
        assert_eq!(paths("pub(crate) use crate::sim::World;"), ["sim::World"]);
        assert_eq!(paths("pub(in crate::sim) fn f() {}"), ["sim"]);
        assert_eq!(
            paths("matches!(a, $crate::sim::A { b: crate::tcp::B })"),
            ["sim::A", "tcp::B"]
        );
    }

    #[test]
    fn chains_of_super_are_followed_from_the_module_they_stand_in() {
        assert_eq!(
            paths("use super::Ack; use super::super::sim::World;"),
            ["cc::Ack", "sim::World"]
        );
        let source = "mod tests { use super::super::super::sim; mod deep { use super::super::x; } } use super::y; use self::z;";
        assert_eq!(paths(source), ["sim", "cc::bbr::x", "cc::y", "cc::bbr::z"]);
        assert_eq!(paths("use crate::cc::{self, super::sim};"), ["cc", "sim"]);
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        let source = r##"
            // use crate::sim;
            /* crate::sim /* crate::sim */ crate::sim */
            //! [`crate::sim`]
            const A: &str = "crate::sim \" crate::sim";
            const B: &str = r#"crate::sim " crate::sim"#;
            const C: (&[u8], char, u8) = (b"crate::sim", '"', b'"');
            fn f<'a>(self: &'a str) -> char { '\'' }
            use crate::tcp;
        "##;
        assert_eq!(paths(source), ["tcp"]);
    }

    #[test]
    fn a_path_is_told_with_its_line() {
        assert_eq!(
            named("/*\n\n*/ use\n  crate::sim;", &[]),
            [(4, vec!["sim".to_owned()])]
        );
    }
}
