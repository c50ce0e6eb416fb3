//! Threads for the application's code: assigners, metadata, codecs.
//!
//! Nothing the application does may delay a heartbeat, so its code never runs where heartbeats are sent. A job that
//! does not end by its deadline is abandoned together with its thread; the thread is replaced, and ends by itself
//! should the job ever end.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::protocol::JobError;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(1);

/// How many threads of a process take jobs at one time.
const THREADS: usize = 4;

/// A few threads, started when there is work and gone when there is none for a while.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    pool: Arc<Pool>,
}

/// The application's side of the pool: threads hold the shared part alone, and end when this is dropped.
#[derive(Debug)]
struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    work: Condvar,
    most: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Task>,
    /// Threads that take jobs: not those that were abandoned.
    threads: usize,
    idle: usize,
    /// Of the idle ones, those that were woken and have not looked yet.
    woken: usize,
    closed: bool,
}

struct Task {
    run: Box<dyn FnOnce() + Send>,
    state: State,
}

/// How far a job is. Changed under the queue's lock alone.
type State = Arc<AtomicU8>;
const WAITING: u8 = 0;
const RUNNING: u8 = 1;
const ABANDONED: u8 = 2;
const ENDED: u8 = 3;

/// A job under way.
#[derive(Debug)]
pub(crate) struct Running<R> {
    result: oneshot::Receiver<Result<R, JobError>>,
    state: State,
    shared: Arc<Shared>,
}

/// A job that was abandoned, and may still run.
#[derive(Clone, Debug)]
pub(crate) struct Hanging(State);

impl Hanging {
    /// Whether the job has ended at last.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.load(Ordering::Acquire) == ENDED
    }
}

impl Jobs {
    /// The pool of this process.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Jobs> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(THREADS))
    }

    /// A pool of at most `most` threads that take jobs.
    pub(crate) fn new(most: usize) -> Self {
        let (queue, work) = (Mutex::new(Queue::default()), Condvar::new());
        Self {
            pool: Arc::new(Pool { shared: Arc::new(Shared { queue, work, most: most.max(1) }) }),
        }
    }

    /// Has `job` run by the next free thread. A panic is its result.
    pub(crate) fn start<R: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<R, JobError> + Send + 'static,
    ) -> Running<R> {
        let (sender, result) = oneshot::channel();
        let state = Arc::new(AtomicU8::new(WAITING));
        let run = Box::new(move || {
            // Whatever the application's code leaves half done in a panic is dropped here, unseen.
            let outcome = panic::catch_unwind(AssertUnwindSafe(job))
                .unwrap_or_else(|panic| Err(panicked(&*panic)));
            // The receiver is gone if the job was abandoned.
            drop(sender.send(outcome));
        });
        let shared = &self.pool.shared;
        shared.push(Task { run, state: Arc::clone(&state) });
        Running { result, state, shared: Arc::clone(shared) }
    }
}

impl Shared {
    fn push(self: &Arc<Self>, task: Task) {
        let mut queue = self.lock();
        queue.jobs.push_back(task);
        match queue.idle < queue.jobs.len() && queue.threads < self.most {
            true => self.spawn(&mut queue),
            false => self.wake(&mut queue),
        }
    }

    /// Wakes one thread, unless one is on its way: whoever takes a job and leaves others wakes the next. So a burst of
    /// short jobs, as when all members of a process rejoin, wakes no more threads than there is work for.
    fn wake(&self, queue: &mut Queue) {
        if queue.woken == 0 && queue.idle > 0 {
            queue.woken = 1;
            self.work.notify_one();
        }
    }

    fn spawn(self: &Arc<Self>, queue: &mut Queue) {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("kafka-group-job".into());
        // Without a thread the job waits for the next that comes free, or for its deadline.
        if thread.spawn(move || shared.run_jobs()).is_ok() {
            queue.threads += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_jobs(&self) {
        while let Some(Task { run, state }) = self.next() {
            run();
            let queue = self.lock();
            let was = state.swap(ENDED, Ordering::AcqRel);
            drop(queue);
            if was == ABANDONED {
                return; // This thread was written off, and replaced.
            }
        }
    }

    /// The next job; none when the pool is closed, or there is nothing to do for a while.
    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            if let Some(task) = queue.jobs.pop_front() {
                task.state.store(RUNNING, Ordering::Release);
                if !queue.jobs.is_empty() {
                    self.wake(&mut queue);
                }
                return Some(task);
            }
            if queue.closed {
                queue.threads -= 1;
                return None;
            }
            queue.idle += 1;
            let (woken, wait) =
                self.work.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle -= 1;
            queue.woken = 0;
            if wait.timed_out() && queue.jobs.is_empty() {
                queue.threads -= 1;
                return None;
            }
        }
    }
}

impl<R> Running<R> {
    /// Waits for the result. Cancel safe: the job goes on, and dropping what is left abandons nothing.
    pub(crate) async fn result(&mut self) -> Result<R, JobError> {
        (&mut self.result).await.unwrap_or(Err(JobError::TimedOut))
    }

    /// Gives the job up, and its thread with it if it has begun.
    pub(crate) fn abandon(self) -> Hanging {
        let mut queue = self.shared.lock();
        match self.state.load(Ordering::Acquire) {
            WAITING => {
                queue.jobs.retain(|task| !Arc::ptr_eq(&task.state, &self.state));
                self.state.store(ENDED, Ordering::Release);
            }
            RUNNING => {
                self.state.store(ABANDONED, Ordering::Release);
                queue.threads = queue.threads.saturating_sub(1);
                if !queue.jobs.is_empty() {
                    self.shared.spawn(&mut queue);
                }
            }
            _ => {}
        }
        drop(queue);
        Hanging(self.state)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_all();
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("jobs", &self.jobs.len())
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// The message of a panic.
fn panicked(panic: &(dyn Any + Send)) -> JobError {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    JobError::Panicked(message.unwrap_or_else(|| "with something that is no text".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn a_panic_is_a_result() {
        let jobs = Jobs::new(1);
        let result = jobs.start(|| -> Result<(), _> { panic!("no plan today") }).result().await;
        assert_eq!(result, Err(JobError::Panicked("no plan today".into())));
    }

    #[tokio::test]
    async fn a_job_that_hangs_costs_its_thread_and_no_other_job() {
        let jobs = Jobs::new(1);
        let (release, hold) = mpsc::channel::<()>();
        let (started, running) = oneshot::channel();
        let hangs = jobs.start(move || {
            started.send(()).unwrap();
            hold.recv().unwrap_err();
            Ok(())
        });
        running.await.unwrap();
        let hanging = hangs.abandon();
        assert!(!hanging.has_ended());
        assert_eq!(jobs.start(|| Ok(7)).result().await, Ok(7));
        drop(release);
        while !hanging.has_ended() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_job_given_up_before_it_began_never_runs() {
        let jobs = Jobs::new(1);
        let (release, hold) = mpsc::channel::<()>();
        let mut first = jobs.start(move || {
            hold.recv().unwrap_err();
            Ok(())
        });
        let hanging = jobs.start(|| -> Result<(), _> { panic!("ran") }).abandon();
        assert!(hanging.has_ended());
        drop(release);
        assert_eq!(first.result().await, Ok(()));
    }
}
