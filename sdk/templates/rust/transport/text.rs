//! Minimal JSON parsing for a transport.

/// Returns the string member `name` of a JSON object, unescaped. None: no such member, or not a string. The
/// object must be well formed, as settings and configurations are.
pub fn member(object: &str, name: &str) -> Option<String> {
    let mut at = object.trim_start().strip_prefix('{')?;
    loop {
        let (key, rest) = string(at.trim_start())?;
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        if key == name {
            return string(value).map(|(text, _)| text);
        }
        at = after_value(value)?.trim_start().strip_prefix(',')?;
    }
}

/// Returns the string at the beginning of `s` and the rest after it.
fn string(s: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = s.strip_prefix('"')?.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((out, &s[i + 2..])),
            '\\' => match chars.next()?.1 {
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'u' => {
                    let mut hex4 = || (0..4).try_fold(0, |n, _| Some(n * 16 + chars.next()?.1.to_digit(16)?));
                    let mut code = hex4()?;
                    if (0xd800..0xdc00).contains(&code) && chars.as_str().starts_with("\\u") {
                        chars.nth(1);
                        let low = (0..4).try_fold(0, |n, _| Some(n * 16 + chars.next()?.1.to_digit(16)?))?;
                        code = 0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff);
                    }
                    out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                plain => out.push(plain),
            },
            plain => out.push(plain),
        }
    }
    None
}

/// Returns the rest after the value at the beginning of `s`.
fn after_value(mut s: &str) -> Option<&str> {
    let mut depth = 0;
    loop {
        match s.chars().next()? {
            '"' => s = string(s)?.1,
            ',' | '}' | ']' if depth == 0 => return Some(s),
            c => {
                depth += i32::from(c == '{' || c == '[') - i32::from(c == '}' || c == ']');
                s = &s[c.len_utf8()..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::member;
    #[test]
    fn finds_members_after_other_members() {
        let object = r#" {"a":{"socket":"/no"},"b":[1,"],"],"c":null , "socket" : "/a\u00e9\ud83d\ude00\/b" }"#;
        assert_eq!(member(object, "socket").as_deref(), Some("/a\u{e9}\u{1f600}/b"));
        assert_eq!(member(object, "c"), None);
        assert_eq!(member(object, "d"), None);
        assert_eq!(member("{}", "a"), None);
    }
}
