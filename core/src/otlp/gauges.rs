//! What pools have and do at one moment, as gauges: the numbers of the pools' page of metrics,
//! summed over the pools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;
use serde_json::Value;
use trunkline_pool::metrics::{self, FamilyKind, Sink};

/// The status of a pool, for as long as that is there.
pub(super) type Status = Box<dyn Fn() -> Option<Value> + Send>;

/// The pools that are looked at, and what was seen last.
#[derive(Default)]
pub(super) struct Pools {
    pools: Mutex<Vec<Status>>,
    seen: Mutex<Option<(Instant, Arc<GaugeFamilies>)>>,
}

/// The sum of the samples with these labels.
type Family = BTreeMap<Vec<(String, String)>, f64>;

/// What was seen.
#[derive(Default)]
struct GaugeFamilies {
    families: BTreeMap<&'static str, Family>,
    /// The family that is told; nothing of one that is no gauge.
    told: Option<&'static str>,
}

impl Pools {
    pub(super) fn add(&self, status: Status) {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(status);
    }

    /// What is there now, or was a moment ago: all gauges of a collection look once.
    fn seen(&self) -> Arc<GaugeFamilies> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, seen)) = &*seen
            && when.elapsed() < SEEN_FOR
        {
            return seen.clone();
        }
        let mut sum = GaugeFamilies::default();
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|status| status().map(|status| metrics::tell(&status, &mut sum)).is_some());
        seen.insert((Instant::now(), Arc::new(sum))).1.clone()
    }
}

impl Sink for GaugeFamilies {
    fn family(&mut self, name: &'static str, kind: FamilyKind, _help: &'static str) {
        self.told = Some(name).filter(|_| kind == FamilyKind::Gauge);
    }

    fn sample(&mut self, _suffix: &str, labels: &[(&str, &str)], value: f64) {
        let Some(family) = self.told else { return };
        let labels = labels.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        *self.families.entry(family).or_default().entry(labels).or_default() += value;
    }
}

/// Has the meter look at the pools whenever it collects.
pub(super) fn register(meter: &Meter, pools: &Arc<Pools>) {
    for (name, family, what) in GAUGES {
        let pools = Arc::downgrade(pools);
        let gauge = meter.f64_observable_gauge(name).with_description(what);
        let gauge = gauge.with_callback(move |observed| {
            let Some(seen) = pools.upgrade().map(|pools| pools.seen()) else { return };
            for (labels, value) in seen.families.get(family).into_iter().flatten() {
                let labels =
                    labels.iter().map(|(name, text)| KeyValue::new(name.clone(), text.clone()));
                observed.observe(*value, &labels.collect::<Vec<_>>());
            }
        });
        // The meter keeps it.
        let _ = gauge.build();
    }
}

/// For so long nobody looks again: longer than one collection takes, and shorter than the time
/// between two.
const SEEN_FOR: Duration = Duration::from_millis(200);

/// The names in the conventions' form. A collector makes those of the page from them.
const GAUGES: [(&str, &str, &str); 12] = [
    ("trunkline.servers", "trunkline_servers", "Servers by how they stand."),
    ("trunkline.entries", "trunkline_entries", "Connections, those under way included."),
    ("trunkline.sessions", "trunkline_sessions", "Open sessions."),
    ("trunkline.processes", "trunkline_processes", "Server processes that live."),
    ("trunkline.budget.limit", "trunkline_budget_limit", "Servers that may run."),
    ("trunkline.budget.live", "trunkline_budget_live", "Servers that run."),
    ("trunkline.budget.reserved", "trunkline_budget_reserved", "Servers that are started."),
    ("trunkline.server.up", "trunkline_server_up", "The pools that are connected to it."),
    ("trunkline.server.tools", "trunkline_server_tools", "Tools that it lists."),
    ("trunkline.server.processes", "trunkline_server_processes", "Its processes."),
    ("trunkline.server.in_flight", "trunkline_server_in_flight", "Calls under way."),
    (
        "trunkline.servers.left_out",
        "trunkline_servers_left_out",
        "Servers that have no series here.",
    ),
];
