// Written by generate-sys from quire.h, which is the manual. Do not edit.

use super::types::growing;
use super::*;
use std::marker::{PhantomData, PhantomPinned};

pub const QUIRE_WINDOW_LIMIT: u64 = 1048576;
pub const QUIRE_START_HEAD: i32 = 0;
pub const QUIRE_START_POST: i32 = 1;
pub const QUIRE_START_NEAREST: i32 = 2;
pub const QUIRE_START_KEY: i32 = 3;
pub const QUIRE_START_RANK: i32 = 4;

#[repr(C)]
pub struct quire_window {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_window_start {
    pub struct_size: u32,
    pub kind: i32,
    pub ids: quire_ids,
    pub key: i64,
    pub rank: u64,
    pub above: u32,
    pub below: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_window_info {
    pub struct_size: u32,
    pub is_following_head: i32,
    pub generation: u64,
    pub row_count: u64,
    pub rank: u64,
    pub count: u64,
    pub anchor: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_difference {
    pub struct_size: u32,
    pub reserved: i32,
    pub removed: *const u64,
    pub removed_count: usize,
    pub inserted: *const u64,
    pub inserted_count: usize,
    pub updated: *const u64,
    pub updated_count: usize,
}
growing! {
    quire_window_start
    quire_window_info
    quire_difference
}

extern "C" {
    pub fn quire_window_open(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        start: *const quire_window_start,
        out_window: *mut *mut quire_window,
    ) -> quire_status;
    pub fn quire_window_close(window: *mut quire_window);
    pub fn quire_window_get_info(
        window: *mut quire_window,
        out_info: *mut quire_window_info,
    ) -> quire_status;
    pub fn quire_window_look(
        window: *mut quire_window,
        index: u64,
        above: u32,
        below: u32,
    ) -> quire_status;
    pub fn quire_window_update(
        window: *mut quire_window,
        snapshot: *mut quire_snapshot,
        out_difference: *mut quire_difference,
    ) -> quire_status;
    pub fn quire_window_read(
        window: *mut quire_window,
        snapshot: *mut quire_snapshot,
        index: u64,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_window_nearest(
        window: *mut quire_window,
        out_ids: *mut quire_list,
    ) -> quire_status;
}
