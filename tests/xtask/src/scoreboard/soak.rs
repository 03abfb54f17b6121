//! The soak, and in its long form the plot of what the host held in each second of it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::machine::{Machine, Reach, write};
use crate::run::{Run, Stop};
use crate::svg::{END, begin, text};

/// The test alone; it asserts that everything is flat.
pub fn soak(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.testserver(run)?;
    let file = machine.target.join("xtask/soak.jsonl");
    let mut cargo = machine.cargo(&["test", "-p", "trunkline", "--test", "stress", "soak::"]);
    cargo.env("TRUNKLINE_SOAK_FILE", &file);
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
    }
    // What an earlier one left is none of this one's.
    let _ = std::fs::remove_file(&file);
    let came = run.command(&mut cargo);
    if machine.reach == Reach::Full && file.exists() {
        write(&machine.root.join(PLOT), &draw(&read(&file)?)?)?;
    }
    came
}

fn read(file: &Path) -> Result<Vec<Value>, Stop> {
    let wrong =
        |error: &dyn std::fmt::Display| Stop::Failed(format!("{}: {error}", file.display()));
    let samples = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
    samples.lines().map(|line| serde_json::from_str(line).map_err(|error| wrong(&error))).collect()
}

/// A band for each figure, from nothing at its foot to the greatest sample at its head.
fn draw(samples: &[Value]) -> Result<String, Stop> {
    let mut svg = begin(WIDTH, HEAD + BAND * FIGURES.len() as f64);
    text(&mut svg, LEFT, 20.0, &format!("A soak of {} seconds: what the host held", samples.len()));
    for (number, (figure, unit, divisor)) in FIGURES.iter().enumerate() {
        let missing = || Stop::Failed(format!("a sample of the soak has no {figure}"));
        let value = |sample: &Value| sample[figure].as_f64().map(|value| value / divisor);
        let values: Option<Vec<f64>> = samples.iter().map(value).collect();
        let values = values.ok_or_else(missing)?;
        let (least, greatest) = values.iter().fold((f64::MAX, 0.0_f64), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
        let foot = HEAD + BAND * (number + 1) as f64 - 12.0;
        let at = |second: usize| LEFT + PLOTTED * second as f64 / samples.len().max(2) as f64;
        let high = |value: f64| foot - (BAND - 40.0) * value / greatest.max(1.0);
        text(&mut svg, LEFT, foot - BAND + 36.0, &format!("{unit}: {least:.0} to {greatest:.0}"));
        let mut points = String::new();
        for (second, value) in values.iter().enumerate() {
            // Writing to a string cannot fail, here and below.
            let _ = write!(points, "{:.1},{:.1} ", at(second), high(*value));
        }
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"#35699b\" points=\"{}\"/>\n\
             <line x1=\"{LEFT}\" x2=\"{}\" y1=\"{foot}\" y2=\"{foot}\" stroke=\"black\"/>",
            points.trim_end(),
            LEFT + PLOTTED
        );
    }
    Ok(svg + END)
}

/// By the names of the samples: what they count, and of how many of these one is shown.
const FIGURES: [(&str, &str, f64); 4] = [
    ("descriptors", "open descriptors", 1.0),
    ("threads", "threads", 1.0),
    ("bytes", "resident memory in MiB", 1_048_576.0),
    ("processes", "server processes", 1.0),
];

const PLOT: &str = "docs/soak.svg";

/// Pixels: the whole, what stands left of the lines, their length, and the height of a band.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 16.0;
const PLOTTED: f64 = 960.0;
const HEAD: f64 = 32.0;
const BAND: f64 = 120.0;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::draw;

    #[test]
    fn each_second_is_a_point_of_each_figure() {
        let sample =
            |it| json!({ "descriptors": 10 * it, "threads": 9, "bytes": 2 << 20, "processes": 3 });
        let Ok(svg) = draw(&[sample(1), sample(2), sample(1)]) else { panic!("it has all") };
        assert!(draw(&[json!({ "descriptors": 1 })]).is_err());
        let lines: Vec<&str> = svg.lines().filter(|line| line.contains("<polyline")).collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.matches(',').count() == 3), "{svg}");
        assert!(svg.contains("open descriptors: 10 to 20") && svg.contains("MiB: 2 to 2"), "{svg}");
    }
}
