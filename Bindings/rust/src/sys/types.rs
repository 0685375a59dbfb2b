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
pub struct quire_limits {
    pub posts: u64,
    pub body_bytes: u64,
    pub age_ms: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_budget {
    pub struct_size: u32,
    pub reserved: u32,
    pub file_bytes: u64,
    pub cache: quire_limits,
    pub collection: quire_limits,
    pub feed: quire_limits,
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
pub struct quire_evictions {
    pub struct_size: u32,
    pub reserved: u32,
    pub pages: u64,
    pub posts: u64,
    pub body_bytes: u64,
    pub posts_by_age: u64,
    pub posts_by_feed: u64,
    pub posts_by_collection: u64,
    pub posts_by_cache: u64,
    pub posts_by_file: u64,
    pub hits: u64,
    pub misses: u64,
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
    quire_budget
    quire_statistics
    quire_evictions
    quire_repair_report
    quire_feed_options
    quire_place
    quire_request
    quire_answer
    quire_outcome
    quire_prune_policy
    quire_prune_result
}
