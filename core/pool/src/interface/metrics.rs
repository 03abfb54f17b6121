//! The status as a collector of metrics reads it: the text format of Prometheus, version 0.0.4.
//!
//! A label is the name of a server, a method of the protocol or the code of an error. Sessions are
//! none: there is one for each conversation, and a series for each would never end; what each of
//! them came to is in the status itself.

use std::fmt::Write;

use serde_json::Value;

/// Servers with series of their own; the pool's own numbers count the others too.
const SERVERS_MAX: usize = 1000;

/// What metrics are told to: first a family, then its samples.
pub trait Sink {
    /// The samples that follow are of this family.
    fn family(&mut self, name: &'static str, kind: FamilyKind, help: &'static str);

    /// One number of it; the suffix is of a histogram's.
    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64);
}

/// What the numbers of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// They only grow.
    Counter,
    /// They come and go.
    Gauge,
    /// They are how many fell below each bound.
    Histogram,
}

/// The metrics of a pool with this status.
pub fn text(status: &Value) -> String {
    let mut page = MetricsPage::default();
    tell(status, &mut page);
    page.0
}

/// Tells the metrics of a pool with this status.
pub fn tell(status: &Value, page: &mut dyn Sink) {
    of_pool(page, status);
    let none = serde_json::Map::new();
    let servers = status["servers"].as_object().unwrap_or(&none);
    let shown: Vec<(&str, &Value)> =
        servers.iter().map(|(name, row)| (&**name, row)).take(SERVERS_MAX).collect();
    of_servers(page, &shown);
    of_calls(page, &shown);
    page.family(
        "trunkline_servers_left_out",
        FamilyKind::Gauge,
        "Servers that have no series here.",
    );
    page.sample("", &[], (servers.len() - shown.len()) as f64);
}

fn of_pool(page: &mut dyn Sink, status: &Value) {
    let totals = &status["totals"];
    page.family("trunkline_servers", FamilyKind::Gauge, "Servers by how they stand.");
    let counted = |name: &str| number(&totals[name]).unwrap_or(0.0);
    let known = ["connected", "connecting", "failed", "skipped"];
    for state in known {
        page.sample("", &[("state", state)], counted(state));
    }
    let rest = counted("servers") - known.map(counted).iter().sum::<f64>();
    page.sample("", &[("state", "other")], rest.max(0.0));
    for (name, member, help) in [
        ("trunkline_entries", &totals["entries"], "Connections, those under way included."),
        ("trunkline_sessions", &totals["sessions"], "Open sessions."),
        ("trunkline_processes", &status["processes"], "Server processes that live."),
        ("trunkline_budget_limit", &status["budget"]["limit"], "Servers that may run."),
        ("trunkline_budget_live", &status["budget"]["live"], "Servers that run."),
        ("trunkline_budget_reserved", &status["budget"]["reserved"], "Servers that are started."),
    ] {
        // Without a budget there is no limit of it.
        if let Some(value) = number(member) {
            page.family(name, FamilyKind::Gauge, help);
            page.sample("", &[], value);
        }
    }
}

fn of_servers(page: &mut dyn Sink, servers: &[(&str, &Value)]) {
    let sum_of = |row: &Value, member: &str| -> f64 {
        let entries = row["entries"].as_array();
        entries.into_iter().flatten().filter_map(|entry| number(&entry[member])).sum()
    };
    gauge(page, "trunkline_server_up", "Whether it is connected.", servers, |row| {
        Some(f64::from(u8::from(row["state"] == "connected")))
    });
    gauge(page, "trunkline_server_tools", "Tools that it lists.", servers, |row| {
        number(&row["counts"]["tools"])
    });
    gauge(page, "trunkline_server_processes", "Its processes.", servers, |row| {
        number(&row["pid_count"])
    });
    gauge(page, "trunkline_server_in_flight", "Calls under way.", servers, |row| {
        Some(sum_of(row, "in_flight"))
    });
    let help = "Resident memory of its processes.";
    gauge(page, "trunkline_server_memory_bytes", help, servers, |row| number(&row["memory_bytes"]));
    let help = "Processor time of its processes, of those that live.";
    gauge(page, "trunkline_server_cpu_seconds", help, servers, |row| {
        number(&row["cpu_ms"]).map(|milliseconds| milliseconds / 1e3)
    });
}

fn of_calls(page: &mut dyn Sink, servers: &[(&str, &Value)]) {
    for (name, member, help) in [
        ("trunkline_sent_bytes_total", "bytes_sent", "Bytes of the params of calls."),
        ("trunkline_received_bytes_total", "bytes_received", "Bytes of the results of calls."),
    ] {
        page.family(name, FamilyKind::Counter, help);
        for (server, row) in servers {
            let value = number(&row["usage"][member]);
            value.into_iter().for_each(|value| page.sample("", &[("server", server)], value));
        }
    }
    page.family("trunkline_call_errors_total", FamilyKind::Counter, "Calls that failed, by code.");
    for (server, row) in servers {
        for error in rows(&row["usage"]["errors"]) {
            let code = error["code"].as_str().unwrap_or_default();
            let labels = [("server", *server), ("error_type", code)];
            page.sample("", &labels, number(&error["count"]).unwrap_or(0.0));
        }
    }
    let help = "How long requests to servers take, from the call to its answer.";
    page.family("mcp_client_operation_duration_seconds", FamilyKind::Histogram, help);
    for (server, row) in servers {
        for durations in rows(&row["usage"]["durations"]) {
            of_durations(page, server, durations);
        }
    }
}

fn of_durations(page: &mut dyn Sink, server: &str, durations: &Value) {
    let method = durations["method"].as_str().unwrap_or_default();
    let labels = [("server", server), ("mcp_method_name", method)];
    let mut below = 0.0;
    for bucket in rows(&durations["buckets"]) {
        below += number(&bucket["count"]).unwrap_or(0.0);
        let bound =
            number(&bucket["le_ms"]).map_or("+Inf".into(), |bound| (bound / 1e3).to_string());
        page.sample("_bucket", &[labels[0], labels[1], ("le", &bound)], below);
    }
    page.sample("_sum", &labels, number(&durations["total_us"]).unwrap_or(0.0) / 1e6);
    page.sample("_count", &labels, below);
}

/// A gauge for each server that has a value.
fn gauge(
    page: &mut dyn Sink,
    name: &'static str,
    help: &'static str,
    servers: &[(&str, &Value)],
    value: impl Fn(&Value) -> Option<f64>,
) {
    let known: Vec<(&str, f64)> =
        (servers.iter()).filter_map(|(server, row)| Some((*server, value(row)?))).collect();
    if known.is_empty() {
        return;
    }
    page.family(name, FamilyKind::Gauge, help);
    for (server, value) in known {
        page.sample("", &[("server", server)], value);
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text, and the family that it is at.
#[derive(Default)]
struct MetricsPage(String, &'static str);

impl Sink for MetricsPage {
    fn family(&mut self, name: &'static str, kind: FamilyKind, help: &'static str) {
        self.1 = name;
        let kind = match kind {
            FamilyKind::Counter => "counter",
            FamilyKind::Gauge => "gauge",
            FamilyKind::Histogram => "histogram",
        };
        // Writing to memory cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(self.1);
        self.0.push_str(suffix);
        let mut before = '{';
        for (name, text) in labels {
            self.0.push(before);
            self.0.push_str(name);
            self.0.push_str("=\"");
            text.chars().for_each(|character| self.push_escaped(character));
            self.0.push('"');
            before = ',';
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

impl MetricsPage {
    fn push_escaped(&mut self, character: char) {
        match character {
            '\\' => self.0.push_str("\\\\"),
            '"' => self.0.push_str("\\\""),
            '\n' => self.0.push_str("\\n"),
            other => self.0.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(usage: Value) -> Value {
        json!({ "state": "connected", "counts": { "tools": 3 }, "pid_count": 1, "memory_bytes": null, "cpu_ms": null,
            "entries": [{ "in_flight": 2 }, { "in_flight": 1 }], "usage": usage })
    }

    fn status(servers: Value) -> Value {
        json!({ "totals": { "servers": 3, "connected": 1, "connecting": 0, "failed": 1, "skipped": 0, "entries": 1, "sessions": 2 },
            "processes": 1, "budget": { "limit": null, "live": 1, "reserved": 0 }, "servers": servers })
    }

    /// SPEC 16.7.
    #[test]
    fn what_was_counted_is_written_as_a_collector_reads_it() {
        let buckets = json!([{ "le_ms": 10, "count": 2 }, { "le_ms": 1000, "count": 1 }, { "le_ms": null, "count": 1 }]);
        let usage = json!({ "bytes_sent": 5, "bytes_received": 7, "errors": [{ "code": "timeout", "count": 4 }],
            "durations": [{ "method": "tools/call", "count": 4, "total_us": 2_500_000, "buckets": buckets }] });
        let mut row = server(usage);
        row["memory_bytes"] = json!(1 << 20);
        row["cpu_ms"] = json!(1500);
        let text = text(&status(json!({ "s": row })));
        let histogram = "# HELP mcp_client_operation_duration_seconds How long requests to servers take, from the call to its answer.
# TYPE mcp_client_operation_duration_seconds histogram
mcp_client_operation_duration_seconds_bucket{server=\"s\",mcp_method_name=\"tools/call\",le=\"0.01\"} 2
mcp_client_operation_duration_seconds_bucket{server=\"s\",mcp_method_name=\"tools/call\",le=\"1\"} 3
mcp_client_operation_duration_seconds_bucket{server=\"s\",mcp_method_name=\"tools/call\",le=\"+Inf\"} 4
mcp_client_operation_duration_seconds_sum{server=\"s\",mcp_method_name=\"tools/call\"} 2.5
mcp_client_operation_duration_seconds_count{server=\"s\",mcp_method_name=\"tools/call\"} 4
";
        assert!(text.contains(histogram), "{text}");
        for line in [
            "trunkline_servers{state=\"connected\"} 1",
            "trunkline_servers{state=\"failed\"} 1",
            "trunkline_servers{state=\"other\"} 1",
            "trunkline_sessions 2",
            "trunkline_budget_live 1",
            "trunkline_server_up{server=\"s\"} 1",
            "trunkline_server_in_flight{server=\"s\"} 3",
            "trunkline_server_memory_bytes{server=\"s\"} 1048576",
            "trunkline_server_cpu_seconds{server=\"s\"} 1.5",
            "trunkline_sent_bytes_total{server=\"s\"} 5",
            "trunkline_received_bytes_total{server=\"s\"} 7",
            "trunkline_call_errors_total{server=\"s\",error_type=\"timeout\"} 4",
            "trunkline_servers_left_out 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        // There is no budget.
        assert!(!text.contains("trunkline_budget_limit"), "{text}");
    }

    #[test]
    fn what_was_not_looked_up_has_no_series() {
        let text = text(&status(json!({ "s": server(Value::Null) })));
        assert!(!text.contains("memory") && !text.contains("cpu"), "{text}");
        assert!(!text.contains("_bucket"), "{text}");
    }

    #[test]
    fn a_name_cannot_end_its_label_and_many_names_end_somewhere() {
        let names = (0..=SERVERS_MAX).map(|number| (format!("s{number:04}"), server(Value::Null)));
        let text = text(&status(Value::Object(names.collect())));
        assert_eq!(text.matches("trunkline_server_up{").count(), SERVERS_MAX);
        assert!(text.ends_with("trunkline_servers_left_out 1\n"), "{text}");
        let hostile = json!({ "a\"} 1\nb\\": server(Value::Null) });
        let text = super::text(&status(hostile));
        assert!(text.contains("trunkline_server_up{server=\"a\\\"} 1\\nb\\\\\"} 1\n"), "{text}");
    }

    /// A family is told once, with its help and type before its samples.
    #[test]
    fn every_line_belongs_to_the_family_above_it() {
        let text = text(&status(json!({ "a": server(Value::Null), "b": server(Value::Null) })));
        let (mut family, mut seen) = ("", Vec::new());
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap();
                assert!(!seen.contains(&family), "{family} twice");
                seen.push(family);
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                assert_eq!(kind.split(' ').next(), Some(family));
            } else {
                assert!(line.starts_with(family), "{line} under {family}");
            }
        }
    }
}
