//! How long the assigners take for the groups of scenario files, and how good their plans are.
//!
//! ```sh
//! cargo bench --bench assign -- [--assigner NAME] [--racks ORDER] [--slack N] [--runs N] FILE…
//! ```
//!
//! `NAME`: `sticky` (the default), `cooperative-sticky`, `range`, `roundrobin`. `ORDER`: `after-moves` (the default),
//! `before-moves`, `ignored`. Each file is one group; each prints one line of JSON. The clock runs for `assign` on a
//! decoded group alone. `peak_mb` is what the call holds at most at one time, its result included.

#![expect(clippy::unwrap_used, reason = "a program for measuring ends where its input is wrong")]

mod scenario;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use kafka_group::assign::{
    EagerStickyAssigner, PartitionAssigner, Racks, RangeAssigner, RoundRobinAssigner,
    StickyAssigner,
};
use scenario::Scenario;

fn main() {
    let options = Options::read();
    for file in &options.files {
        let text = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let scenario: Scenario =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        drop(text);
        println!("{}", options.measure(&scenario));
    }
    if options.files.is_empty() {
        println!("usage: cargo bench --bench assign -- [--assigner NAME] [--runs N] FILE…");
    }
}

struct Options {
    name: String,
    racks: Racks,
    slack: u32,
    runs: usize,
    files: Vec<String>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            name: "sticky".to_owned(),
            racks: Racks::default(),
            slack: 0,
            runs: 5,
            files: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value behind the option");
            match argument.as_str() {
                // cargo adds it.
                "--bench" => {}
                "--assigner" => options.name = value(),
                "--racks" => options.racks = racks(&value()),
                "--slack" => options.slack = value().parse().unwrap(),
                "--runs" => options.runs = value().parse().unwrap(),
                _ => options.files.push(argument),
            }
        }
        options
    }

    fn assigner(&self) -> Box<dyn PartitionAssigner> {
        match self.name.as_str() {
            "sticky" => {
                Box::new(EagerStickyAssigner::default().racks(self.racks).slack(self.slack))
            }
            "cooperative-sticky" => {
                Box::new(StickyAssigner::default().racks(self.racks).slack(self.slack))
            }
            "range" => Box::new(RangeAssigner::default()),
            "roundrobin" => Box::new(RoundRobinAssigner::default()),
            other => panic!("no assigner `{other}`"),
        }
    }

    /// The line of one scenario.
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    fn measure(&self, scenario: &Scenario) -> String {
        let assigner = self.assigner();
        let holds = self.name == "cooperative-sticky";
        let group = scenario.group(holds);
        let mut times = Vec::new();
        let mut plan = None;
        let mut peak = 0;
        for _ in 0..self.runs.max(1) {
            drop(plan.take());
            let before = LIVE.load(Ordering::Relaxed);
            PEAK.store(before, Ordering::Relaxed);
            let start = Instant::now();
            plan = Some(assigner.assign(&group).unwrap());
            times.push(start.elapsed().as_secs_f64() * 1e3);
            peak = PEAK.load(Ordering::Relaxed) - before;
        }
        let worth = scenario.worth(&group, &plan.unwrap());
        times.sort_by(f64::total_cmp);
        format!(
            r#"{{"scenario":"{}","peer":"kafka-group-{}","runs":{},"median_ms":{:.3},"min_ms":{:.3},{worth},"peak_mb":{:.1}}}"#,
            scenario.name,
            self.name,
            times.len(),
            times[times.len() / 2],
            times[0],
            peak as f64 / 1e6,
        )
    }
}

fn racks(order: &str) -> Racks {
    match order {
        "after-moves" => Racks::AfterMoves,
        "before-moves" => Racks::BeforeMoves,
        "ignored" => Racks::Ignored,
        other => panic!("no order `{other}`"),
    }
}

/// The system's allocator, with a count of what is in use.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn add(size: usize) {
        let live = LIVE.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; it hands everything on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: what our caller promises is what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
