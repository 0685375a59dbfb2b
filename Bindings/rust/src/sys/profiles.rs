// Written by generate-sys from quire_profiles.h, which is the manual. Do not edit.

use super::types::growing;
use super::*;
use std::marker::{PhantomData, PhantomPinned};

pub const QUIRE_ASKED_UNKNOWN: i32 = 0;
pub const QUIRE_ASKED_HEAD: i32 = 1;
pub const QUIRE_ASKED_NEWER: i32 = 2;
pub const QUIRE_ASKED_BELOW: i32 = 3;
pub const QUIRE_ASKED_ABOVE: i32 = 4;
pub const QUIRE_ASKED_AROUND: i32 = 5;
pub const QUIRE_PARSED_HAS_PAGE: u32 = 1;
pub const QUIRE_PARSED_HAS_PAGES: u32 = 2;
pub const QUIRE_PARSED_HAS_TOTAL: u32 = 4;
pub const QUIRE_PARSED_HAS_BACKOFF: u32 = 8;
pub const QUIRE_PARSED_HAS_QUOTA: u32 = 16;
pub const QUIRE_PARSED_HAS_QUOTA_RENEWAL: u32 = 32;
pub const QUIRE_PARSED_END_IS_DOUBTFUL: u32 = 64;
pub const QUIRE_PARSED_LINK_IS_REFUSED: u32 = 128;
pub const QUIRE_PARSED_ERROR_PASSES: u32 = 256;

#[repr(C)]
pub struct quire_profile {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_profile_options {
    pub struct_size: u32,
    pub reserved: u32,
    pub items: quire_bytes,
    pub id: quire_bytes,
    pub key: quire_bytes,
    pub maximum_size: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_response {
    pub struct_size: u32,
    pub status: i32,
    pub body: quire_bytes,
    pub request: quire_bytes,
    pub headers: *const quire_field,
    pub header_count: usize,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_parsed {
    pub struct_size: u32,
    pub flags: u32,
    pub answer: *const quire_answer,
    pub asked: i32,
    pub reserved: i32,
    pub asked_id: quire_bytes,
    pub own: quire_link,
    pub page: u64,
    pub pages: u64,
    pub total: u64,
    pub backoff_ms: u64,
    pub quota: u64,
    pub quota_renewal_ms: u64,
    pub owner: *mut c_void,
}
growing! {
    quire_profile_options
    quire_response
    quire_parsed
}

extern "C" {
    pub fn quire_profiles_last_error(out_error: *mut quire_error) -> quire_status;
    pub fn quire_profile_open(
        name_or_json: quire_bytes,
        options: *const quire_profile_options,
        out_profile: *mut *mut quire_profile,
    ) -> quire_status;
    pub fn quire_profile_close(profile: *mut quire_profile);
    pub fn quire_profile_names(out_names: *mut quire_list) -> quire_status;
    pub fn quire_profile_names_free(names: *mut quire_list);
    pub fn quire_profile_get_feed_options(
        profile: *mut quire_profile,
        out_options: *mut quire_feed_options,
    ) -> quire_status;
    pub fn quire_parse(
        profile: *mut quire_profile,
        response: *const quire_response,
        out_parsed: *mut quire_parsed,
    ) -> quire_status;
    pub fn quire_parsed_free(parsed: *mut quire_parsed);
}

use std::mem::{offset_of, size_of};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<quire_status>() == 4);
    assert!(size_of::<quire_profile_options>() == 64);
    assert!(offset_of!(quire_profile_options, items) == 8);
    assert!(offset_of!(quire_profile_options, key) == 40);
    assert!(offset_of!(quire_profile_options, maximum_size) == 56);
    assert!(size_of::<quire_response>() == 56);
    assert!(offset_of!(quire_response, status) == 4);
    assert!(offset_of!(quire_response, body) == 8);
    assert!(offset_of!(quire_response, request) == 24);
    assert!(offset_of!(quire_response, headers) == 40);
    assert!(size_of::<quire_parsed>() == 120);
    assert!(offset_of!(quire_parsed, answer) == 8);
    assert!(offset_of!(quire_parsed, asked) == 16);
    assert!(offset_of!(quire_parsed, asked_id) == 24);
    assert!(offset_of!(quire_parsed, own) == 40);
    assert!(offset_of!(quire_parsed, page) == 64);
    assert!(offset_of!(quire_parsed, quota_renewal_ms) == 104);
    assert!(offset_of!(quire_parsed, owner) == 112);
};
