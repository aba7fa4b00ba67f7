//! The allocator of the module: one list of free blocks, ordered by address.
//!
//! The module makes few allocations, most of them large: the bytes of filters, and the vectors of a
//! build. The first free block that is large enough is taken, and what is left of it stays free. A
//! freed block is merged with the free blocks next to it. The list is short, so walking it costs
//! little; a general allocator would be a tenth of the module for queries.
//!
//! Every block begins at a multiple of [`UNIT`] bytes and takes a multiple of it, so each free block
//! has the size for its own entry of the list.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;

/// Sizes and addresses of blocks are multiples of this.
const UNIT: usize = 16;

/// A free block begins with this entry.
struct Free {
    size: usize,
    next: *mut Free,
}

/// Where memory comes from: a range that grows at its end.
pub(crate) trait Source {
    /// Grows by at least `size` bytes. Returns the address and the size of the new range, both
    /// multiples of [`UNIT`]; `None` if there is no more memory.
    fn grow(&self, size: usize) -> Option<(*mut u8, usize)>;
}

/// The allocator, for one thread.
pub(crate) struct Allocator<S> {
    /// The free blocks, in ascending order of their addresses.
    first: UnsafeCell<*mut Free>,
    source: S,
}

// SAFETY: wasm32 without atomics has only one thread, and tests do not share an allocator.
unsafe impl<S> Sync for Allocator<S> {}

impl<S: Source> Allocator<S> {
    pub(crate) const fn new(source: S) -> Self {
        Self { first: UnsafeCell::new(ptr::null_mut()), source }
    }

    /// The size of the block for a layout; `None` if it exceeds the address space.
    fn size_of(layout: Layout) -> Option<usize> {
        layout.size().max(1).checked_next_multiple_of(UNIT)
    }

    /// Takes a block from the list.
    ///
    /// # Safety
    /// The list is not in use.
    unsafe fn take(&self, size: usize, align: usize) -> Option<*mut u8> {
        let mut link = self.first.get();
        // SAFETY: every link is the head of the list or in a free block, which nobody else uses.
        unsafe {
            while let Some(free) = (*link).as_mut() {
                let begin = ptr::from_mut(free).cast::<u8>();
                let skipped = begin.align_offset(align);
                if skipped <= free.size && free.size - skipped >= size {
                    let next = free.next;
                    let rest = free.size - skipped - size;
                    *link = next;
                    if rest > 0 {
                        let after = begin.add(skipped + size).cast::<Free>();
                        after.write(Free { size: rest, next });
                        *link = after;
                    }
                    if skipped > 0 {
                        free.size = skipped;
                        free.next = *link;
                        *link = free;
                    }
                    return Some(begin.add(skipped));
                }
                link = &raw mut free.next;
            }
        }
        None
    }

    /// Puts a block into the list.
    ///
    /// # Safety
    /// The list is not in use, and nobody uses the block any longer.
    unsafe fn put(&self, block: *mut u8, size: usize) {
        let block = block.cast::<Free>();
        let mut link = self.first.get();
        let mut before: *mut Free = ptr::null_mut();
        // SAFETY: as in `take`; the block is large enough for its entry.
        unsafe {
            while !(*link).is_null() && *link < block {
                before = *link;
                link = &raw mut (*before).next;
            }
            block.write(Free { size, next: *link });
            *link = block;
            merge(block);
            if !before.is_null() {
                merge(before);
            }
        }
    }
}

/// Merges a free block with the next one, if they are adjacent.
///
/// # Safety
/// The block is in the list.
unsafe fn merge(block: *mut Free) {
    // SAFETY: the block and the next one are free, and so nobody else uses them.
    unsafe {
        let next = (*block).next;
        if block.cast::<u8>().wrapping_add((*block).size) == next.cast() {
            (*block).size += (*next).size;
            (*block).next = (*next).next;
        }
    }
}

// SAFETY: blocks that are handed out are not in the list, and those in the list do not overlap.
unsafe impl<S: Source> GlobalAlloc for Allocator<S> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (Some(size), align) = (Self::size_of(layout), layout.align().max(UNIT)) else {
            return ptr::null_mut();
        };
        // SAFETY: there is one thread, and the list is not in use. New memory is nobody's yet.
        unsafe {
            if let Some(block) = self.take(size, align) {
                return block;
            }
            let Some((new, grown)) =
                size.checked_add(align - UNIT).and_then(|size| self.source.grow(size))
            else {
                return ptr::null_mut();
            };
            self.put(new, grown);
            self.take(size, align).unwrap_or(ptr::null_mut())
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(size) = Self::size_of(layout) {
            // SAFETY: the caller gives up a block of this layout.
            unsafe { self.put(block, size) }
        }
    }
}

/// The memory of the module.
#[cfg(target_arch = "wasm32")]
pub(crate) struct Memory;

#[cfg(target_arch = "wasm32")]
impl Source for Memory {
    fn grow(&self, size: usize) -> Option<(*mut u8, usize)> {
        const PAGE: usize = 1 << 16;
        // The last page of 4 GiB stays unused: an address after its end would be 0.
        let pages = size.div_ceil(PAGE);
        let before = core::arch::wasm32::memory_grow::<0>(pages);
        let last = before.checked_add(pages)?;
        if before == usize::MAX || last >= 1 << 16 {
            return None;
        }
        Some(((before * PAGE) as *mut u8, pages * PAGE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// An array that grows page by page.
    struct Array {
        bytes: *mut u8,
        len: usize,
        used: Cell<usize>,
    }

    impl Source for Array {
        fn grow(&self, size: usize) -> Option<(*mut u8, usize)> {
            let (used, size) = (self.used.get(), size.next_multiple_of(4096));
            if self.len - used < size {
                return None;
            }
            self.used.set(used + size);
            Some((self.bytes.wrapping_add(used), size))
        }
    }

    fn with_allocator(len: usize, test: impl FnOnce(&Allocator<Array>)) {
        let layout = Layout::from_size_align(len, 1 << 16).expect("a layout");
        // SAFETY: the size is not zero, and the bytes are freed once, after their last use.
        unsafe {
            let bytes = std::alloc::alloc(layout);
            test(&Allocator::new(Array { bytes, len, used: Cell::new(0) }));
            std::alloc::dealloc(bytes, layout);
        }
    }

    /// Allocates and frees at random, and compares what every block holds with what was written.
    #[test]
    fn blocks_do_not_overlap_and_are_reused() {
        with_allocator(1 << 20, |allocator| {
            let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
            let mut state = 1u64;
            for step in 0..20_000 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(12345);
                let random = (state >> 33) as usize;
                if blocks.len() < 20 && !random.is_multiple_of(3) {
                    let layout = Layout::from_size_align(random % 9000 + 1, 1 << (random % 8));
                    let layout = layout.expect("a layout");
                    // SAFETY: the size is not zero.
                    let block = unsafe { allocator.alloc(layout) };
                    assert!(!block.is_null(), "at most 180 kB of 1 MiB are in use");
                    assert!(block.addr().is_multiple_of(layout.align()));
                    // SAFETY: the block has this size.
                    unsafe { block.write_bytes(step as u8, layout.size()) };
                    blocks.push((block, layout, step as u8));
                } else if !blocks.is_empty() {
                    let (block, layout, fill) = blocks.swap_remove(random % blocks.len());
                    // SAFETY: the block was filled, and is not used after it is freed.
                    unsafe {
                        let bytes = core::slice::from_raw_parts(block, layout.size());
                        assert!(bytes.iter().all(|&byte| byte == fill));
                        allocator.dealloc(block, layout);
                    }
                }
            }
            for (block, layout, _) in blocks {
                // SAFETY: as above.
                unsafe { allocator.dealloc(block, layout) };
            }
            // All is merged into one block again.
            // SAFETY: nobody uses the list.
            unsafe {
                let first = &**allocator.first.get();
                assert!(first.next.is_null());
                assert_eq!(first.size, allocator.source.used.get());
            }
        });
    }

    #[test]
    fn no_more_memory_is_null() {
        with_allocator(1 << 16, |allocator| {
            for size in [1 << 17, isize::MAX as usize - 63] {
                let layout = Layout::from_size_align(size, 64).expect("a layout");
                // SAFETY: the size is not zero.
                assert!(unsafe { allocator.alloc(layout) }.is_null());
            }
        });
    }
}
