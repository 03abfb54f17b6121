//! What a demo's program printed, checked against the contract of `docs/guide/demo.md`.

use serde_json::{Value, json};

use crate::run::Stop;

/// Checks the program's lines and tells them in words.
pub fn check(text: &str, title: &str) -> Result<Vec<String>, Stop> {
    let steps: Vec<Value> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let pid = steps
        .iter()
        .find(|step| step["tool"] == "pid")
        .map_or(json!(null), |step| step["text"].clone());
    if pid.as_str().is_none_or(|text| text.parse::<u32>().is_err()) {
        return Err(Stop::Failed("no call said the server's process".to_string()));
    }
    let greeting = steps.iter().find(|step| step["tool"] == "mcp__demo__echo");
    let greeting = greeting.and_then(|step| step["text"].as_str()).unwrap_or_default().to_string();
    if !greeting.to_lowercase().contains(&title.to_lowercase()) {
        return Err(Stop::Failed(format!("no greeting from {title}")));
    }
    let expected = expected(&pid, &greeting);
    for (number, wanted) in expected.iter().enumerate() {
        if steps.get(number) != Some(wanted) {
            let got = steps.get(number).map_or("nothing".to_string(), ToString::to_string);
            return Err(Stop::Failed(format!(
                "line {}: {wanted} expected, {got} printed",
                number + 1
            )));
        }
    }
    if steps.len() > expected.len() {
        return Err(Stop::Failed(format!("{} lines too many", steps.len() - expected.len())));
    }
    Ok(steps.iter().map(in_words).collect())
}

fn expected(pid: &Value, greeting: &str) -> Vec<Value> {
    let mut steps = vec![json!({"step": "pool"})];
    let mut both = |step: &dyn Fn(&str) -> Value| steps.extend(["alpha", "beta"].map(step));
    both(&|session| json!({"step": "acquire", "session": session, "server": "demo"}));
    both(&|session| json!({"step": "call", "session": session, "tool": "pid", "text": pid}));
    steps.push(json!({
        "step": "call", "session": "beta", "tool": "mcp__demo__echo", "text": greeting,
    }));
    let mut both = |step: &dyn Fn(&str) -> Value| steps.extend(["alpha", "beta"].map(step));
    both(&|session| json!({"step": "change", "session": session, "added": ["fresh"]}));
    both(&|session| json!({"step": "release", "session": session}));
    steps.push(json!({"step": "drain", "drained": 1, "forced": 0}));
    steps
}

fn in_words(step: &Value) -> String {
    let text = |key: &str| step[key].as_str().unwrap_or_default();
    match text("step") {
        "acquire" => format!("{} acquired {}", text("session"), text("server")),
        "call" => format!("{} called {}: {}", text("session"), text("tool"), text("text")),
        "change" => format!("{} was told of new tools: {}", text("session"), step["added"]),
        "release" => format!("{} released its hold", text("session")),
        "drain" => format!("the pool drained {} server", step["drained"]),
        _ => "a pool".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, expected};
    use crate::run::Stop;
    use serde_json::json;

    fn lines() -> Vec<String> {
        expected(&json!("4711"), "hello from C").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_contract_is_told_in_words() {
        let told = check(&lines().join("\n"), "C").unwrap();
        assert_eq!(told[1], "alpha acquired demo");
        assert_eq!(told.len(), 11);
    }

    #[test]
    fn another_process_a_missing_line_and_one_too_many_are_noticed() {
        let with = |change: &dyn Fn(&mut Vec<String>)| {
            let mut lines = lines();
            change(&mut lines);
            check(&lines.join("\n"), "C")
        };
        assert!(with(&|lines| lines[4] = lines[4].replace("4711", "4712")).is_err());
        assert!(with(&|lines| drop(lines.remove(7))).is_err());
        assert!(with(&|lines| lines.push("{}".to_string())).is_err());
        let silent = check("", "C");
        assert_eq!(silent, Err(Stop::Failed("no call said the server's process".to_string())));
    }
}
