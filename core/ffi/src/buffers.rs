//! A caller's pointers and lengths as slices, once they are known to be some.

use crate::status::Status;
use core::slice;

/// Elements at a pointer, to be read.
pub(crate) struct Input<T>(pub(crate) *const T, pub(crate) usize);

/// Elements at a pointer, to be written.
pub(crate) struct Output<T>(pub(crate) *mut T, pub(crate) usize);

impl<T> Input<T> {
    /// The elements; none of nothing, whatever the pointer.
    ///
    /// # Safety
    /// Where the pointer is not null, that many elements can be read there, and nothing writes them while `'a` lasts.
    pub(crate) unsafe fn slice<'a>(self) -> Result<&'a [T], Status> {
        if self.1 == 0 {
            return Ok(&[]);
        }
        span(self.0, self.1)?;
        // SAFETY: neither null nor misaligned, and no longer than an object can be; the rest is the caller's promise.
        Ok(unsafe { slice::from_raw_parts(self.0, self.1) })
    }

    pub(crate) fn span(&self) -> Result<Span, Status> {
        span(self.0, self.1)
    }
}

impl<T> Output<T> {
    /// The elements; none of nothing, whatever the pointer.
    ///
    /// # Safety
    /// Where the pointer is not null, that many elements can be written there, and nothing else reads or writes them
    /// while `'a` lasts.
    pub(crate) unsafe fn slice<'a>(self) -> Result<&'a mut [T], Status> {
        if self.1 == 0 {
            return Ok(&mut []);
        }
        span(self.0, self.1)?;
        // SAFETY: neither null nor misaligned, and no longer than an object can be; the rest is the caller's promise.
        Ok(unsafe { slice::from_raw_parts_mut(self.0, self.1) })
    }

    pub(crate) fn span(&self) -> Result<Span, Status> {
        span(self.0, self.1)
    }
}

/// The first address of a buffer and the one behind its last.
pub(crate) type Span = (usize, usize);

/// Where a buffer lies, if there can be one.
fn span<T>(pointer: *const T, length: usize) -> Result<Span, Status> {
    let begin = pointer.addr();
    if length == 0 {
        return Ok((begin, begin));
    }
    let end = length
        .checked_mul(size_of::<T>())
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .and_then(|bytes| begin.checked_add(bytes));
    end.filter(|_| !pointer.is_null() && pointer.is_aligned())
        .map(|end| (begin, end))
        .ok_or(Status::Pointer)
}

/// That no byte belongs to two of these.
pub(crate) fn apart(mut spans: &[Span]) -> Result<(), Status> {
    while let Some((&(begin, end), rest)) = spans.split_first() {
        if rest.iter().any(|&(from, to)| begin < to && from < end) {
            return Err(Status::Pointer);
        }
        spans = rest;
    }
    Ok(())
}
