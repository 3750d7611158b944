//! The memory that a thread has for itself: its stack, its thread-local storage, its control block.
//!
//! The system's library cuts all three from one mapping, which it knows as the thread's stack.

use std::ops::Range;

use anyhow::{Result, ensure};

thread_local! {
    static SAMPLE: u8 = const { 0 };
}

/// Addresses of the calling thread's own memory; not for the main thread, whose parts lie apart.
pub(super) fn of_this_thread() -> Result<Range<usize>> {
    let own = stack()?;
    let local = SAMPLE.with(|sample| std::ptr::from_ref(sample).addr());
    ensure!(
        own.contains(&local),
        "thread-local storage lies apart from the stack; this system is not known"
    );
    Ok(own)
}

#[cfg(target_os = "linux")]
fn stack() -> Result<Range<usize>> {
    use std::mem::MaybeUninit;

    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the place is large enough, and is read only if the call says that it filled it.
    let code = unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) };
    ensure!(code == 0, "the thread's stack is unknown: error {code}");
    // SAFETY: filled by the call above.
    let mut attributes = unsafe { attributes.assume_init() };
    let (mut start, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: valid attributes, and two places to write to.
    let code =
        unsafe { libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut len) };
    // SAFETY: valid attributes that are not used again.
    unsafe { libc::pthread_attr_destroy(&raw mut attributes) };
    ensure!(code == 0, "the thread's stack is unknown: error {code}");
    Ok(start.addr()..start.addr() + len)
}

#[cfg(not(target_os = "linux"))]
fn stack() -> Result<Range<usize>> {
    anyhow::bail!("the thread's stack is unknown on this system")
}
