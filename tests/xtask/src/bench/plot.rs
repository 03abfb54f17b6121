//! The plot: a bar for each goal, and how far it is from its bound. A bar that ends before the line
//! is met.

use std::fmt::Write;

use super::figures::Figures;
use super::goals::{self, Goal, round};

/// The plot as SVG; `under` is the line of text at its foot.
pub fn draw(figures: &Figures, under: &str) -> String {
    let measured = |goal: &'static Goal| Some((goal, goal.rounds(figures).median()?));
    let rows: Vec<(&Goal, f64)> = goals::all().filter_map(measured).collect();
    let height = HEAD + ROW * rows.len() as f64 + FOOT;
    let mut svg = begin(WIDTH, height);
    text(&mut svg, 8.0, 20.0, "Measured against the goal; shorter is better, the line is the goal");
    for (number, (goal, value)) in rows.iter().enumerate() {
        bar(&mut svg, HEAD + ROW * number as f64, goal, *value);
    }
    let line = LEFT + UNIT;
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        svg,
        "<line x1=\"{line}\" x2=\"{line}\" y1=\"{}\" y2=\"{}\" stroke=\"black\"/>",
        HEAD - 4.0,
        height - FOOT
    );
    text(&mut svg, 8.0, height - 8.0, under);
    svg + END
}

fn bar(svg: &mut String, top: f64, goal: &Goal, value: f64) {
    let distance = goal.bound.distance(value);
    let width = UNIT * distance.clamp(0.0, LONGEST);
    let colour = if goal.bound.is_met(value) { "#4a8f5c" } else { "#c0564b" };
    text(svg, 8.0, top + 13.0, goal.what);
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/>",
        top + 2.0,
        ROW - 5.0
    );
    let beyond = if distance > LONGEST { " \u{2192}" } else { "" };
    let said =
        format!("{} {}{beyond} ({} {})", round(value), goal.unit, goal.bound.shown(), goal.unit);
    text(svg, LEFT + UNIT * LONGEST + 8.0, top + 13.0, &said);
}

/// The beginning of a plot of so many pixels.
fn begin(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

/// A line of text.
fn text(svg: &mut String, x: f64, y: f64, said: &str) {
    let said = said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{said}</text>");
}

/// The end of a plot.
const END: &str = "</svg>\n";

/// Pixels: the whole, what stands left of the bars, and a bar that is just met.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 370.0;
const UNIT: f64 = 200.0;

/// Bars end here, in goals.
const LONGEST: f64 = 2.0;

const HEAD: f64 = 36.0;
const ROW: f64 = 19.0;
const FOOT: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::bench::figures::{Figures, Round};

    #[test]
    fn a_goal_that_is_missed_has_another_bar_and_what_was_not_measured_has_none() {
        let mut figures = Figures::default();
        let round = Round { run: 1, number: 0 };
        let line = |us| format!("{{\"workload\":\"acquire\",\"p50_us\":{us}}}");
        figures.add("rust", round, &line(0.5));
        figures.add("python", round, &line(90.0));
        let svg = draw(&figures, "here");
        let has = |what: &str| svg.matches(what).count();
        assert_eq!((has("#4a8f5c"), has("#c0564b"), has("\u{2192}")), (1, 1, 1));
        assert!(svg.contains("width=\"100.0\"") && !svg.contains("Node"));
    }
}
