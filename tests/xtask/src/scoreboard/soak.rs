//! The soak, and in its long form what the host held in each second of it: a plot, and how it grew.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::machine::{Machine, Reach, write};
use crate::run::{Run, Stop};
use crate::svg::{END, begin, text};

/// The test alone, which asserts that everything is flat, and those of what comes and goes.
pub fn soak(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let asked = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok());
    run.may_take(asked.map_or(Duration::ZERO, Duration::from_secs) + BESIDE);
    machine.testserver(run)?;
    let file = machine.target.join("xtask/soak.jsonl");
    let mut cargo = machine.cargo(&["test", "-p", "trunkline", "--test", "stress", "--"]);
    cargo.args(["soak::", "bytes::", "leaks::"]);
    cargo.env("TRUNKLINE_SOAK_FILE", &file);
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
    }
    // What an earlier one left is none of this one's.
    let _ = std::fs::remove_file(&file);
    let came = run.command(&mut cargo);
    if machine.reach == Reach::Full && file.exists() {
        let samples = read(&file)?;
        for figure in &FIGURES {
            println!("    {}", grown(figure, &figure.values(&samples)?));
        }
        write(&machine.root.join(PLOT), &draw(&samples)?)?;
    }
    came
}

fn read(file: &Path) -> Result<Vec<Value>, Stop> {
    let wrong =
        |error: &dyn std::fmt::Display| Stop::Failed(format!("{}: {error}", file.display()));
    let samples = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
    samples.lines().map(|line| serde_json::from_str(line).map_err(|error| wrong(&error))).collect()
}

/// A band for each figure, from nothing at its foot to the greatest sample at its head, with how it
/// grew.
fn draw(samples: &[Value]) -> Result<String, Stop> {
    let mut svg = begin(WIDTH, HEAD + BAND * FIGURES.len() as f64);
    text(&mut svg, LEFT, 20.0, &format!("A soak of {} seconds: what the host held", samples.len()));
    for (number, figure) in FIGURES.iter().enumerate() {
        let values = figure.values(samples)?;
        let (least, greatest) = values.iter().fold((f64::MAX, 0.0_f64), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
        let foot = HEAD + BAND * (number + 1) as f64 - 12.0;
        let at = |second: usize| LEFT + PLOTTED * second as f64 / samples.len().max(2) as f64;
        let high = |value: f64| foot - (BAND - 40.0) * value / greatest.max(1.0);
        let words = format!("{}; {least:.0} to {greatest:.0} in all", grown(figure, &values));
        text(&mut svg, LEFT, foot - BAND + 36.0, &words);
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

/// What is sampled, by its name in a sample; how much of it is one of the unit that is shown.
struct Figure {
    name: &'static str,
    unit: &'static str,
    divisor: f64,
}

impl Figure {
    fn values(&self, samples: &[Value]) -> Result<Vec<f64>, Stop> {
        let missing = || Stop::Failed(format!("a sample of the soak has no {}", self.name));
        let value = |sample: &Value| Some(sample[self.name].as_f64()? / self.divisor);
        samples.iter().map(value).collect::<Option<_>>().ok_or_else(missing)
    }
}

/// How a figure grew over the second half of a soak, when all that is there once has come.
fn grown(figure: &Figure, values: &[f64]) -> String {
    let half = &values[values.len() / 2..];
    let middle = half.iter().sum::<f64>() / half.len().max(1) as f64;
    let grown = slope(half) * 3_600.0;
    let share = if middle == 0.0 { 0.0 } else { 100.0 * grown / middle };
    format!("{}: {middle:.1} in the second half, {grown:+.2} an hour ({share:+.2} %)", figure.unit)
}

/// By how much the line that lies nearest to these, by the least squares, rises from one to the
/// next.
fn slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let (middle, middle_of_values) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let offsets = || (0..values.len()).map(|at| at as f64 - middle);
    let squares: f64 = offsets().map(|offset| offset * offset).sum();
    let common = offsets().zip(values).map(|(offset, value)| offset * (value - middle_of_values));
    if squares == 0.0 { 0.0 } else { common.sum::<f64>() / squares }
}

const FIGURES: [Figure; 5] = [
    Figure { name: "descriptors", unit: "open descriptors", divisor: 1.0 },
    Figure { name: "threads", unit: "threads", divisor: 1.0 },
    Figure { name: "bytes", unit: "resident memory in MiB", divisor: 1_048_576.0 },
    Figure { name: "allocated", unit: "allocated memory in MiB", divisor: 1_048_576.0 },
    Figure { name: "processes", unit: "server processes", divisor: 1.0 },
];

/// Makes the long form longer: a day is the most that was promised.
const SECONDS: &str = "TRUNKLINE_SOAK_SECONDS";

/// What the building, the beginning and the end may take beside the seconds of a soak; as long as
/// those of a plain one as well.
const BESIDE: Duration = Duration::from_secs(60 * 60);

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

    use super::{FIGURES, draw, grown, slope};

    #[test]
    fn how_a_figure_grows_is_told_by_the_hour() {
        let line: Vec<f64> = (0..101).map(|second| 5.0 + 0.5 * f64::from(second)).collect();
        assert!((slope(&line) - 0.5).abs() < 1e-9);
        let tooth: Vec<f64> = (0..100).map(|second| f64::from(second % 2)).collect();
        assert!(slope(&tooth).abs() < 1e-3);
        assert_eq!((slope(&[]), slope(&[7.0])), (0.0, 0.0));
        // What came in the first half does not count.
        let values: Vec<f64> = [vec![0.0; 100], vec![90.0; 100]].concat();
        let words = grown(&FIGURES[2], &values);
        assert_eq!(
            words,
            "resident memory in MiB: 90.0 in the second half, +0.00 an hour (+0.00 %)"
        );
    }

    #[test]
    fn each_second_is_a_point_of_each_figure() {
        let sample = |it| json!({ "descriptors": 10 * it, "threads": 9, "bytes": 2 << 20, "allocated": 1 << 20, "processes": 3 });
        let Ok(svg) = draw(&[sample(1), sample(2), sample(1)]) else { panic!("it has all") };
        assert!(draw(&[json!({ "descriptors": 1 })]).is_err());
        let lines: Vec<&str> = svg.lines().filter(|line| line.contains("<polyline")).collect();
        assert_eq!(lines.len(), FIGURES.len());
        assert!(lines.iter().all(|line| line.matches(',').count() == 3), "{svg}");
        assert!(
            svg.contains("open descriptors: 15.0 in the second half, -36000.00 an hour"),
            "{svg}"
        );
        assert!(svg.contains("; 10 to 20 in all") && svg.contains("; 2 to 2 in all"), "{svg}");
    }
}
