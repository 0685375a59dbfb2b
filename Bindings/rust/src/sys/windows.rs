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
pub const QUIRE_VIEW_FEED: i32 = 1;
pub const QUIRE_VIEW_KEYS: i32 = 2;

pub type quire_view_callback = unsafe extern "C" fn(
    context: *mut c_void,
    post: *const quire_row,
    out_entry: *mut quire_view_entry,
) -> i32;

pub type quire_release_callback = unsafe extern "C" fn(context: *mut c_void);

#[repr(C)]
pub struct quire_window {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_view {
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
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_view_entry {
    pub section: quire_bytes,
    pub key: quire_bytes,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_view_options {
    pub struct_size: u32,
    pub order: i32,
    pub version: u64,
    pub release: Option<quire_release_callback>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_view_info {
    pub struct_size: u32,
    pub order: i32,
    pub version: u64,
    pub posts: u64,
    pub is_current: i32,
    pub is_complete: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_view_section {
    pub name: quire_bytes,
    pub posts: u64,
    pub rank: u64,
}
growing! {
    quire_window_start
    quire_window_info
    quire_difference
    quire_view_options
    quire_view_info
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
    pub fn quire_view_open(
        feed: *mut quire_feed,
        name: quire_bytes,
        options: *const quire_view_options,
        callback: quire_view_callback,
        context: *mut c_void,
        out_view: *mut *mut quire_view,
    ) -> quire_status;
    pub fn quire_view_find(
        feed: *mut quire_feed,
        name: quire_bytes,
        out_view: *mut *mut quire_view,
    ) -> quire_status;
    pub fn quire_view_close(view: *mut quire_view);
    pub fn quire_view_remove(
        feed: *mut quire_feed,
        name: quire_bytes,
        out_done: *mut i32,
    ) -> quire_status;
    pub fn quire_view_get_info(
        snapshot: *mut quire_snapshot,
        view: *mut quire_view,
        out_info: *mut quire_view_info,
    ) -> quire_status;
    pub fn quire_view_read_after(
        snapshot: *mut quire_snapshot,
        view: *mut quire_view,
        after: *const quire_position,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_view_read_from_rank(
        snapshot: *mut quire_snapshot,
        view: *mut quire_view,
        rank: u64,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_view_find_post(
        snapshot: *mut quire_snapshot,
        view: *mut quire_view,
        id: quire_bytes,
        out_place: *mut quire_view_section,
    ) -> quire_status;
    pub fn quire_view_sections(
        snapshot: *mut quire_snapshot,
        view: *mut quire_view,
        skip: u64,
        sections: *mut quire_view_section,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
}
