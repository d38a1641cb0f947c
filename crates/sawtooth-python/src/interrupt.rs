//! Work that ends when nobody wants it any more.
//!
//! What the main thread asks for is ended by Ctrl-C: another thread does it, while this one looks for signals.
//! Python handles signals in its main thread, between two of its own instructions: a long call would keep them waiting. The work is told that
//! nobody wants it any more, and left alone: what it has is given back at its next look.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Another thread's word to end what was given this.
#[pyclass(frozen)]
#[derive(Default)]
pub struct StopRequest(AtomicBool);

#[pymethods]
impl StopRequest {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// From now on nothing is wanted any more.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that is so.
    #[getter]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What `work` comes to, done in this thread without the interpreter lock. It is given a question to ask now and then: whether to go on.
pub fn stoppable<T: Send>(
    py: Python<'_>,
    stop: &StopRequest,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send,
) -> T {
    py.detach(|| work(&|| !stop.is_set()))
}

/// Between two looks for signals.
const PAUSE: Duration = Duration::from_millis(50);

/// As much as a thread of Python has.
const STACK_BYTES: usize = 8 << 20;

/// What `work` comes to, done without the interpreter lock; an exception if a signal's handler raises one before. It is given a question to ask now
/// and then: whether to go on.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        return Ok(py.detach(|| work(&|| true)));
    }
    let wanted = Arc::new(AtomicBool::new(true));
    let (sender, mut receiver) = channel();
    let is_wanted = Arc::clone(&wanted);
    let worker = thread::Builder::new().stack_size(STACK_BYTES);
    let worker = worker.spawn(move || {
        let done = work(&|| is_wanted.load(Ordering::Relaxed));
        // Who has been interrupted does not listen any more.
        let _ = sender.send(done);
    })?;
    loop {
        let (done, same) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        receiver = same;
        match done {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()
                    .inspect_err(|_| wanted.store(false, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it sends before it ends"),
            },
        }
    }
}

/// Whether signals are handled in this thread.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let current = threading.call_method0("current_thread")?;
    Ok(current.is(&threading.call_method0("main_thread")?))
}
