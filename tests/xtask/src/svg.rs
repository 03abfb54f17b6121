//! What the plots of the documentation share.

use std::fmt::Write;

/// The beginning of a plot of so many pixels.
pub fn begin(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

/// A line of text.
pub fn text(svg: &mut String, x: f64, y: f64, said: &str) {
    let said = said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{said}</text>");
}

/// The end of a plot.
pub const END: &str = "</svg>\n";
