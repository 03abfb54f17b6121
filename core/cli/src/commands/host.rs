//! `status --host`: what a running host says of its pool, in the file that it named by the option
//! `status_file`.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use trunkline::bounded;
use trunkline_pool::json::plain;
use trunkline_pool::options::STATUS_FILE_BYTES_MAX;

use crate::console::exit::Exit;
use crate::console::failure::Failure;

/// The status that the file has, and who wrote it when.
pub(super) struct Host {
    pub(super) status: Value,
    /// For people: the process and the age of what it wrote.
    pub(super) said: String,
}

/// Reads the file.
///
/// # Errors
/// `NotFound` without a file, `Failed` where nobody has written it for long, `Settings` for what no
/// host wrote.
pub(super) fn read(path: &Path) -> Result<Host, Failure> {
    let named = path.display();
    let no_host = || {
        let failure = Failure::new(Exit::NotFound, format!("no running host writes {named}"));
        failure.with_hint("a host names the file by the option `status_file` of its pool, and takes it away at the end")
    };
    let text = bounded::text(path, STATUS_FILE_BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::NotFound => no_host(),
        _ => Failure::new(Exit::Settings, format!("{named} cannot be read: {error}")),
    })?;
    let whole = plain(&text).unwrap_or_default();
    let number = |name: &str| whole[name].as_u64();
    let (Some(pid), Some(written), Some(period), true) =
        (number("pid"), number("written_at_ms"), number("period_ms"), whole["status"].is_object())
    else {
        let message = format!("{named} is not a status that a host wrote");
        return Err(Failure::new(Exit::Settings, message));
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let written = Duration::from_millis(written);
    let (age, lead) = (now.saturating_sub(written), written.saturating_sub(now));
    if age.max(lead) > Duration::from_millis(period) * PERIODS_MAX {
        let message = match lead.is_zero() {
            true => format!("process {pid} wrote {named} {} s ago, and not since", age.as_secs()),
            // Who writes on would have written since the clock was put back.
            false => {
                format!("process {pid} wrote {named} before the clock went back, and not since")
            }
        };
        let failure = Failure::new(Exit::Failed, message);
        return Err(
            failure.with_hint("it was killed, or is stopped; what it wrote last is still there")
        );
    }
    let said = format!("process {pid}, {:.1} s ago", age.as_secs_f64());
    Ok(Host { status: whole["status"].clone(), said })
}

/// A host that has not written for so many of its periods is taken to be gone; one that swaps, or
/// waits for its disk, is not.
const PERIODS_MAX: u32 = 10;
