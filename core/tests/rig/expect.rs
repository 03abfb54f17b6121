//! Expectations and patterns.

use serde_json::{Map, Value};

use crate::values::{Failure, Given, Saved};

/// Checks what a step gave against everything that the step expects.
pub fn check(
    step: &Map<String, Value>,
    given: Result<Given, Failure>,
    saved: &Saved,
) -> Result<Given, String> {
    let given = match (given, step.get("error")) {
        (Err(Failure::Case(why)), _) => return Err(why),
        (Err(Failure::Library(error)), None) => return Err(format!("failed: {}", error.to_json())),
        (Err(Failure::Library(error)), Some(pattern)) => {
            fits(&saved.filled_in(pattern), &error.to_json())?;
            return Ok(Given::nothing());
        }
        (Ok(given), Some(_)) => return Err(format!("no error but {}", given.value)),
        (Ok(given), None) => given,
    };
    for (key, wanted) in step {
        if key != "equals" && key != "differs" {
            expectation(key, &saved.filled_in(wanted), &given)?;
            continue;
        }
        let name = wanted.as_str().unwrap_or_default();
        let other = saved.0.get(name).ok_or_else(|| format!("{name} was not saved"))?;
        if is_equal(other, &given.value) != (key == "equals") {
            return Err(format!("{key} {name}: {other} and {}", given.value));
        }
    }
    Ok(given)
}

fn expectation(key: &str, wanted: &Value, given: &Given) -> Result<(), String> {
    let value = &given.value;
    let expected =
        |got: &dyn std::fmt::Display| Err(format!("{key}: {wanted} expected, got {got}"));
    match key {
        "is" if !is_equal(wanted, value) => expected(value),
        "match" => fits(wanted, value),
        "text" if value["content"][0]["text"] != *wanted => expected(value),
        "raw" if given.raw.as_deref() != wanted.as_str() => {
            expected(&given.raw.as_deref().unwrap_or("no bytes"))
        }
        "length" if value.as_array().map(Vec::len) != wanted.as_u64().map(|n| n as usize) => {
            expected(value)
        }
        "own_names" => {
            let items = value.as_array().into_iter().flatten();
            let names: Value = items.map(|item| item["own_name"].clone()).collect();
            if names == *wanted { Ok(()) } else { expected(&names) }
        }
        _ => Ok(()),
    }
}

/// Whether two values are equal as JSON: numbers by what they are, not by how they are written.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64().is_some() && left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| is_equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has_equal = |(key, value): (&String, &Value)| {
                right.get(key).is_some_and(|other| is_equal(value, other))
            };
            left.len() == right.len() && left.iter().all(has_equal)
        }
        _ => left == right,
    }
}

/// Checks a value against a pattern, and says where they part.
pub fn fits(pattern: &Value, value: &Value) -> Result<(), String> {
    if is_fitting(pattern, Some(value)) {
        return Ok(());
    }
    Err(format!("{value} does not fit {pattern}"))
}

fn is_fitting(pattern: &Value, value: Option<&Value>) -> bool {
    if let Some((operator, operand)) = operator(pattern) {
        let present = value.filter(|value| !value.is_null());
        return match operator {
            "$has" => present.is_some_and(|value| has(operand, value)),
            "$any" => present.is_some(),
            "$absent" => present.is_none(),
            _ => present.is_some_and(|value| !is_fitting(operand, Some(value))),
        };
    }
    match (pattern, value) {
        (Value::Object(members), Some(Value::Object(value))) => {
            members.iter().all(|(key, pattern)| is_fitting(pattern, value.get(key)))
        }
        (Value::Array(items), Some(Value::Array(value))) => {
            items.len() == value.len()
                && items.iter().zip(value).all(|(pattern, item)| is_fitting(pattern, Some(item)))
        }
        (_, Some(value)) => is_equal(pattern, value),
        (_, None) => false,
    }
}

fn operator(pattern: &Value) -> Option<(&str, &Value)> {
    let members = pattern.as_object().filter(|members| members.len() == 1)?;
    let (key, operand) = members.iter().next()?;
    key.starts_with('$').then_some((key.as_str(), operand))
}

fn has(operand: &Value, value: &Value) -> bool {
    let has_item =
        |items: &[Value], wanted: &Value| items.iter().any(|item| is_fitting(wanted, Some(item)));
    match (operand, value) {
        (Value::String(part), Value::String(text)) => text.contains(part.as_str()),
        (Value::Array(all), Value::Array(items)) => {
            all.iter().all(|wanted| has_item(items, wanted))
        }
        (one, Value::Array(items)) => has_item(items, one),
        _ => false,
    }
}
