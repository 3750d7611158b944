//! What reading does with bytes that are no encoding of the type.

use super::Value;

/// Stops: `V::from_bytes` has no way to report an error, and a made-up value would be wrong data.
///
/// Bytes from the file have passed `V::validate`, so only a caller's own bytes lead here.
#[cold]
#[inline(never)]
pub(super) fn malformed<V: Value>(data: &[u8]) -> ! {
    panic!(
        "{} bytes are not an encoding of {}",
        data.len(),
        V::type_name().name()
    )
}
