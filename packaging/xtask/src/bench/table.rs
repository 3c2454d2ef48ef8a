//! One table: median, p99, ratio to the floor, bound.

use std::time::Duration;

use super::samples::Samples;

/// Rows as they come.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<[String; 6]>,
}

impl Table {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A thing measured in durations, beside its floor's samples. `bound` is the ratio that is aimed at.
    pub(super) fn row(&mut self, who: &str, what: &str, samples: &Samples, floor: &Samples, bound: f64) {
        let ratio = samples.median().as_secs_f64() / floor.median().as_secs_f64().max(f64::EPSILON);
        self.push(who, what, show(samples.median()), show(samples.p99()), format!("{ratio:.2}"), bound);
    }

    /// A floor itself, for the reader.
    pub(super) fn floor(&mut self, what: &str, samples: &Samples) {
        let cells = ["floor", what, &show(samples.median()), &show(samples.p99()), "1.00", ""];
        self.rows.push(cells.map(str::to_owned));
    }

    /// A figure that is no duration.
    pub(super) fn figure(&mut self, who: &str, what: &str, figure: String, ratio: f64, bound: f64) {
        self.push(who, what, figure, String::new(), format!("{ratio:.2}"), bound);
    }

    fn push(&mut self, who: &str, what: &str, median: String, p99: String, ratio: String, bound: f64) {
        self.rows.push([who.to_owned(), what.to_owned(), median, p99, ratio, format!("{bound}")]);
    }

    /// Prints it as Markdown.
    #[allow(clippy::print_stdout, reason = "the table is this command's output")]
    pub(super) fn print(&self) {
        println!("| who | what | median | p99 | ratio | aim |\n| --- | --- | ---: | ---: | ---: | ---: |");
        for row in &self.rows {
            println!("| {} |", row.join(" | "));
        }
    }
}

fn show(duration: Duration) -> String {
    let micros = duration.as_micros();
    if micros < 10_000 { format!("{micros} µs") } else { format!("{:.1} ms", duration.as_secs_f64() * 1e3) }
}
