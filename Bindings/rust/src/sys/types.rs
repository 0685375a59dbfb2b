// Written by generate-sys from quire.h, which is the manual. Do not edit.

use std::ffi::{c_char, c_void};
use std::marker::{PhantomData, PhantomPinned};

pub type quire_status = i32;

#[repr(C)]
pub struct quire_cache {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_feed {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_batch {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_crawl {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_snapshot {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_merge {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_error {
    pub struct_size: u32,
    pub status: quire_status,
    pub os_error: i32,
    pub reserved: i32,
    pub message: *const c_char,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_bytes {
    pub data: *const c_void,
    pub size: usize,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_ids {
    pub items: *const quire_bytes,
    pub count: usize,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_list {
    pub struct_size: u32,
    pub reserved: i32,
    pub count: usize,
    pub items: *const quire_bytes,
    pub owner: *mut c_void,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_link {
    pub kind: i32,
    pub is_overlapping: i32,
    pub text: quire_bytes,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_cache_options {
    pub struct_size: u32,
    pub durability: i32,
    pub map_size: u64,
    pub write_timeout_ms: u32,
    pub maximum_snapshot_age: u32,
    pub flags: u32,
    pub reserved: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_statistics {
    pub struct_size: u32,
    pub reserved: i32,
    pub feeds: u64,
    pub posts: u64,
    pub pages: u64,
    pub gaps: u64,
    pub body_bytes: u64,
    pub dead_body_bytes: u64,
    pub generation: u64,
    pub used_bytes: u64,
    pub free_bytes: u64,
    pub snapshots: u64,
    pub oldest_snapshot_age: u64,
    pub oldest_snapshot_process: i64,
    pub pinned_bytes: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_finding {
    pub code: i32,
    pub reserved: i32,
    pub location: quire_bytes,
    pub message: quire_bytes,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_repaired_feed {
    pub name: quire_bytes,
    pub posts: u64,
    pub lost_posts: u64,
    pub lost_bodies: u64,
    pub gaps: u64,
    pub new_gaps: u64,
    pub is_lost: i32,
    pub reserved: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_repair_report {
    pub struct_size: u32,
    pub is_sound: i32,
    pub damaged_records: u64,
    pub feeds: *const quire_repaired_feed,
    pub count: usize,
    pub kept_file: quire_bytes,
    pub owner: *mut c_void,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_feed_options {
    pub struct_size: u32,
    pub order: i32,
    pub paging: i32,
    pub flags: u32,
    pub page_size: u32,
    pub minimum_run: u32,
    pub first_page: u32,
    pub sizes: i32,
    pub sticky: quire_ids,
    pub collection: quire_bytes,
    pub rows_per_page: u32,
    pub reserved: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_place {
    pub struct_size: u32,
    pub kind: i32,
    pub gap: u64,
    pub target: quire_bytes,
    pub limit: u32,
    pub is_bounded: i32,
    pub link: quire_link,
    pub posts: quire_ids,
    pub page: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_request {
    pub struct_size: u32,
    pub kind: i32,
    pub refusal: i32,
    pub is_overlapping: i32,
    pub ticket: u64,
    pub position: u64,
    pub limit: u64,
    pub link: quire_link,
    pub ids: quire_ids,
    pub until: quire_bytes,
    pub owner: *mut c_void,
    pub help: i32,
    pub reserved: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_post {
    pub id: quire_bytes,
    pub body: quire_bytes,
    pub key: i64,
    pub version: i64,
    pub flags: u32,
    pub detail: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_answer {
    pub struct_size: u32,
    pub post_size: u32,
    pub posts: *const quire_post,
    pub count: usize,
    pub opaque_rows: u64,
    pub next: quire_link,
    pub previous: quire_link,
    pub fetched_at: i64,
    pub has_total: i32,
    pub reserved: i32,
    pub total: u64,
    pub since: quire_bytes,
    pub deleted: quire_ids,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_outcome {
    pub struct_size: u32,
    pub verdict: i32,
    pub is_unchanged: i32,
    pub help: i32,
    pub page: u64,
    pub duplicates_in_page: u64,
    pub opaque_rows: u64,
    pub gaps_closed: u64,
    pub gaps_opened: u64,
    pub updated: u64,
    pub reason: quire_bytes,
    pub added: quire_ids,
    pub duplicates: quire_ids,
    pub moved: quire_ids,
    pub removed: quire_ids,
    pub kept: quire_ids,
    pub displaced: quire_ids,
    pub ignored: quire_ids,
    pub sticky: quire_ids,
    pub disorder: quire_ids,
    pub unplaced: quire_ids,
    pub disproved_sizes: i32,
    pub disproved_rows: u32,
    pub owner: *mut c_void,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_field {
    pub name: quire_bytes,
    pub value: quire_bytes,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_prune_policy {
    pub struct_size: u32,
    pub flags: u32,
    pub maximum_age: i64,
    pub now: i64,
    pub maximum_posts: u64,
    pub maximum_pages: u64,
    pub maximum_bytes: u64,
    pub visible: quire_ids,
    pub budget: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_prune_result {
    pub struct_size: u32,
    pub is_done: i32,
    pub pages: u64,
    pub posts: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_feed_info {
    pub struct_size: u32,
    pub number: u32,
    pub name: quire_bytes,
    pub order: i32,
    pub paging: i32,
    pub flags: u32,
    pub page_size: u32,
    pub minimum_run: u32,
    pub first_page: u32,
    pub sticky: quire_ids,
    pub posts: u64,
    pub detached: u64,
    pub placeholders: u64,
    pub pages: u64,
    pub gaps: u64,
    pub unverified_joins: u64,
    pub body_bytes: u64,
    pub head: quire_link,
    pub tail: quire_link,
    pub drift: i64,
    pub is_in_sequence: i32,
    pub is_end_assumed: i32,
    pub collection: quire_bytes,
    pub sizes: i32,
    pub rows_per_page: u32,
    pub sizes_now: i32,
    pub rows_known: u32,
    pub answers_against_order: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_position {
    pub opaque: [u64; 2],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_row {
    pub kind: i32,
    pub flags: u32,
    pub position: quire_position,
    pub id_number: u64,
    pub id_text: quire_bytes,
    pub body: quire_bytes,
    pub key: i64,
    pub page: u64,
    pub gap: u64,
    pub down: quire_link,
    pub up: quire_link,
    pub posts_above: u64,
    pub why: i32,
    pub reserved: i32,
    pub since: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_page {
    pub number: u64,
    pub index: u64,
    pub own: quire_link,
    pub next: quire_link,
    pub previous: quire_link,
    pub received: u64,
    pub added: u64,
    pub duplicates: u64,
    pub duplicates_in_page: u64,
    pub posts: u64,
    pub fetched_at: i64,
    pub is_full: i32,
    pub reserved: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_post_info {
    pub struct_size: u32,
    pub has_version: i32,
    pub version: i64,
    pub feeds: u64,
    pub body: quire_bytes,
    pub fields: *const quire_field,
    pub field_count: usize,
    pub detail: u32,
    pub is_outdated: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_change {
    pub generation: u64,
    pub feed: u32,
    pub kind: i32,
    pub row_kind: i32,
    pub below_kind: i32,
    pub id: quire_bytes,
    pub gap: u64,
    pub below_id: quire_bytes,
    pub below_gap: u64,
}

macro_rules! growing {
    ($($name:ident)*) => { $(impl $name {
        /// All zero, except its size.
        pub const EMPTY: Self = Self {
            struct_size: std::mem::size_of::<Self>() as u32,
            // SAFETY: numbers and nullable pointers, for which zero is a value.
            ..unsafe { std::mem::zeroed() }
        };
    })* };
}
pub(super) use growing;

growing! {
    quire_error
    quire_list
    quire_cache_options
    quire_statistics
    quire_repair_report
    quire_feed_options
    quire_place
    quire_request
    quire_answer
    quire_outcome
    quire_prune_policy
    quire_prune_result
    quire_feed_info
    quire_post_info
}
