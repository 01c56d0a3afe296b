//! The SDK's C headers in Rust: ry/abi.h, ry/if/core.h, ry/if/registrar.h, ry/if/http.h, ry/if/services.h,
//! ry/svc/accounts.h, ry/svc/runs.h and ry/ext/mcp_transport.h. Names are those of C; the comments there are the reference. Table slots that are not
//! declared in detail have the type `slot`. Copy this file into a project, or include it from the SDK; it needs only
//! `std` of Rust 1.63.
#![allow(non_camel_case_types, dead_code)]
use std::ffi::c_void;
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};

pub const RY_ABI_MAGIC: u32 = 0x3159_5259;
pub const RY_ABI_MAJOR: u32 = 1;
pub const RY_ABI_MINOR: u32 = 0;

pub type ry_status = i32;
pub const RY_OK: ry_status = 0;
pub const RY_CANCELLED: ry_status = 1;
pub const RY_UNKNOWN: ry_status = 2;
pub const RY_INVALID_ARGUMENT: ry_status = 3;
pub const RY_DEADLINE_EXCEEDED: ry_status = 4;
pub const RY_NOT_FOUND: ry_status = 5;
pub const RY_ALREADY_EXISTS: ry_status = 6;
pub const RY_PERMISSION_DENIED: ry_status = 7;
pub const RY_RESOURCE_EXHAUSTED: ry_status = 8;
pub const RY_FAILED_PRECONDITION: ry_status = 9;
pub const RY_ABORTED: ry_status = 10;
pub const RY_OUT_OF_RANGE: ry_status = 11;
pub const RY_UNIMPLEMENTED: ry_status = 12;
pub const RY_INTERNAL: ry_status = 13;
pub const RY_UNAVAILABLE: ry_status = 14;
pub const RY_DATA_LOSS: ry_status = 15;
pub const RY_UNAUTHENTICATED: ry_status = 16;

/// A slot of a table that is not declared in detail here.
pub type slot = *const c_void;
pub enum ry_host {}
pub enum ry_exec {}
pub enum ry_registrar {}
pub enum ry_request {}
pub enum ry_lease {}
pub enum ry_tx {}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ry_str {
    pub ptr: *const u8,
    pub len: usize,
}
pub type ry_bytes = ry_str;

impl ry_str {
    pub const NONE: ry_str = ry_str { ptr: std::ptr::null(), len: 0 };
    pub const fn of(s: &str) -> ry_str {
        ry_str { ptr: s.as_ptr(), len: s.len() }
    }
    pub const fn of_bytes(b: &[u8]) -> ry_str {
        ry_str { ptr: b.as_ptr(), len: b.len() }
    }
    /// # Safety
    /// Valid as long as the borrowed data.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(self.ptr, self.len)
        }
    }
    /// A copy; invalid UTF-8 is replaced.
    /// # Safety
    /// Like bytes().
    pub unsafe fn to_text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ry_uuid {
    pub bytes: [u8; 16],
}
impl ry_uuid {
    /// The form with hyphens, in any case.
    pub fn parse(text: &str) -> Option<ry_uuid> {
        let t = text.as_bytes();
        if t.len() != 36 || [8, 13, 18, 23].iter().any(|&i| t[i] != b'-') {
            return None;
        }
        let mut out = ry_uuid::default();
        let mut digits = t.iter().filter(|&&c| c != b'-');
        for b in out.bytes.iter_mut() {
            let high = (*digits.next()? as char).to_digit(16)?;
            let low = (*digits.next()? as char).to_digit(16)?;
            *b = (high * 16 + low) as u8;
        }
        Some(out)
    }
}

#[repr(C)]
pub struct ry_errbuf {
    pub ptr: *mut u8,
    pub cap: usize,
    pub len: usize,
}
/// Writes an error message; truncated if it is too long.
pub fn say(err: *mut ry_errbuf, text: &str) {
    if err.is_null() {
        return;
    }
    unsafe {
        let n = text.len().min((*err).cap);
        std::ptr::copy_nonoverlapping(text.as_ptr(), (*err).ptr, n);
        (*err).len = n;
    }
}

#[repr(C)]
pub struct ry_error_view {
    pub struct_size: u32,
    pub status: ry_status,
    pub reason: ry_str,
    pub message: ry_str,
    pub detail_json: ry_str,
    pub http_status: u32,
    pub retry_after_s: u32,
}
pub type ry_call_fn = extern "C" fn(*mut c_void);
pub type ry_done_fn = extern "C" fn(*mut c_void, ry_status, *const ry_error_view);
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ry_done {
    pub call: ry_done_fn,
    pub ctx: *mut c_void,
}
#[repr(C)]
pub struct ry_header {
    pub name: ry_str,
    pub value: ry_str,
}

pub const RY_REASON_USER: i32 = 1;
pub const RY_REASON_DEADLINE: i32 = 2;
pub const RY_REASON_GONE: i32 = 3;
pub const RY_REASON_SHUTDOWN: i32 = 4;
pub const RY_REASON_LEASE_LOST: i32 = 5;
pub const RY_REASON_OVERLOAD: i32 = 6;
pub type ry_cancel_fn = extern "C" fn(*mut c_void, i32);
#[repr(C)]
pub struct ry_principal {
    pub struct_size: u32,
    pub role: u32,
    pub subject: ry_str,
    pub issuer: ry_str,
    pub email: ry_str,
    pub auth_kind: ry_str,
    pub claims_json: ry_str,
    pub expires_unix_us: i64,
}

#[repr(C)]
pub struct ry_need {
    pub struct_size: u32,
    pub optional: u32,
    pub id: ry_str,
    pub min_size: u32,
    pub reserved0: u32,
}
pub const fn need(id: &'static str) -> ry_need {
    ry_need { struct_size: size_of::<ry_need>() as u32, optional: 0, id: ry_str::of(id), min_size: 0, reserved0: 0 }
}
pub type ry_get_interface_fn = extern "C" fn(*const ry_host, ry_str, u32) -> *const c_void;

#[repr(C)]
pub struct ry_module_v1 {
    pub magic: u32,
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub min_host_minor: u32,
    pub flags: u32,
    pub name: ry_str,
    pub version: ry_str,
    pub config_schema_json: ry_str,
    pub needs: *const ry_need,
    pub n_needs: usize,
    pub need_stride: usize,
    pub provides: *const ry_str,
    pub n_provides: usize,
    pub create: extern "C" fn(*const ry_host, ry_get_interface_fn, *mut ry_registrar, ry_str, *mut *mut c_void, *mut ry_errbuf) -> ry_status,
    pub start: extern "C" fn(*mut c_void, *mut ry_errbuf) -> ry_status,
    pub stop: extern "C" fn(*mut c_void, i64, ry_done),
    pub destroy: extern "C" fn(*mut c_void),
    pub health: extern "C" fn(*mut c_void, *mut ry_errbuf) -> ry_status,
}
unsafe impl Sync for ry_module_v1 {}
unsafe impl Sync for ry_need {}

// ---- ry.core/1 ----

#[repr(C)]
pub struct ry_core_v1 {
    pub struct_size: u32,
    pub reserved0: u32,
    pub log: extern "C" fn(*const ry_host, i32, ry_str, ry_str),
    pub now_unix_us: extern "C" fn(*const ry_host) -> i64,
    pub mono_us: extern "C" fn(*const ry_host) -> i64,
    pub info: extern "C" fn(*const ry_host, ry_str) -> ry_str,
    pub new_uuid: slot,
    pub pick_exec: extern "C" fn(*const ry_host) -> *mut ry_exec,
    pub on_exec: extern "C" fn(*const ry_exec) -> u32,
    pub exec_post: extern "C" fn(*const ry_host, *mut ry_exec, ry_call_fn, *mut c_void) -> ry_status,
    pub sleep_ms: extern "C" fn(*const ry_host, *mut ry_exec, u64, ry_done, *mut u64) -> ry_status,
    pub op_cancel: extern "C" fn(*const ry_host, u64),
    pub run_blocking: extern "C" fn(*const ry_host, *mut ry_exec, ry_call_fn, *mut c_void, ry_done) -> ry_status,
}

// ---- ry.http/1 ----

pub const RY_ROUTE_PUBLIC: u32 = 1;
pub const RY_ROUTE_LONG: u32 = 16;
#[repr(C)]
pub struct ry_request_view {
    pub struct_size: u32,
    pub n_headers: u32,
    pub method: ry_str,
    pub path: ry_str,
    pub query: ry_str,
    pub route: ry_str,
    pub headers: *const ry_header,
    pub params: *const ry_header,
    pub n_params: usize,
    pub body: ry_bytes,
    pub principal: *const ry_principal,
    pub request_id: ry_str,
    pub remote_address: ry_str,
    pub traceparent: ry_str,
    pub received_unix_us: i64,
    pub deadline_unix_us: i64,
    pub exec: *mut ry_exec,
}
pub type ry_handler_fn = extern "C" fn(*mut c_void, *const ry_request_view, *mut ry_request) -> ry_status;
#[repr(C)]
pub struct ry_http_v1 {
    pub struct_size: u32,
    pub reserved0: u32,
    pub respond: extern "C" fn(*mut ry_request, u32, *const ry_header, usize, ry_bytes) -> ry_status,
    pub respond_file: slot,
    pub fail: extern "C" fn(*mut ry_request, *const ry_error_view) -> ry_status,
    pub on_cancel: extern "C" fn(*mut ry_request, ry_cancel_fn, *mut c_void) -> ry_status,
    pub read_body_to_buffer_release: [slot; 11],
}

// ---- ry.registrar/1 ----

#[repr(C)]
pub struct ry_route {
    pub struct_size: u32,
    pub flags: u32,
    pub method: ry_str,
    pub pattern: ry_str,
    pub handle: ry_handler_fn,
    pub ctx: *mut c_void,
    pub max_body: u64,
    pub timeout_ms: u64,
    pub openapi_json: ry_str,
}
#[repr(C)]
pub struct ry_registrar_v1 {
    pub struct_size: u32,
    pub reserved0: u32,
    pub route: extern "C" fn(*mut ry_registrar, *const ry_route) -> ry_status,
    pub migration: slot,
    pub job: slot,
    pub subscribe: slot,
    pub provide: extern "C" fn(*mut ry_registrar, ry_str, *const c_void, *mut c_void) -> ry_status,
    pub define_point: slot,
    pub contribute: extern "C" fn(*mut ry_registrar, ry_str, ry_str, *const c_void, *mut c_void) -> ry_status,
    pub describe: extern "C" fn(*mut ry_registrar, ry_str) -> ry_status,
}

// ---- ry.services/1 ----

#[repr(C)]
pub struct ry_services_v1 {
    pub struct_size: u32,
    pub reserved0: u32,
    pub acquire: extern "C" fn(*const ry_host, ry_str, u32, *mut *const c_void, *mut *mut c_void, *mut *mut ry_lease) -> ry_status,
    pub release: extern "C" fn(*mut ry_lease),
    pub report_driver_violation: extern "C" fn(*const ry_host, ry_str, ry_str, ry_str, ry_str) -> ry_status,
}

// ---- accounts/1 ----

#[repr(C)]
pub struct ry_tier_view {
    pub struct_size: u32,
    pub all_models: u32,
    pub name: ry_str,
    pub models: *const ry_str,
    pub n_models: usize,
    pub concurrent_runs: i64,
    pub threads: i64,
    pub custom_mcps: i64,
    pub upload_file_bytes: i64,
    pub upload_files: i64,
}
#[repr(C)]
pub struct ry_account_view {
    pub struct_size: u32,
    pub role: u32,
    pub account_id: ry_uuid,
    pub account_id_text: ry_str,
    pub email: ry_str,
    pub display_name: ry_str,
    pub tier: *const ry_tier_view,
}
pub type ry_account_fn = extern "C" fn(*mut c_void, ry_status, *const ry_account_view, *const ry_error_view);
#[repr(C)]
pub struct ry_accounts_v1 {
    pub struct_size: u32,
    pub reserved0: u32,
    pub ensure: extern "C" fn(*mut c_void, *const ry_principal, *mut ry_exec, ry_account_fn, *mut c_void) -> ry_status,
    pub tier: extern "C" fn(*mut c_void, ry_str) -> *const ry_tier_view,
    pub find: extern "C" fn(*mut c_void, *const ry_uuid, *mut ry_exec, ry_account_fn, *mut c_void) -> ry_status,
}

// ---- runs/1 ----

pub const RY_RUN_BACKGROUND: u32 = 1;
pub const RY_RUN_SNAPSHOT: u32 = 2;

#[repr(C)]
pub struct ry_run_field {
    pub name: ry_str,
    pub value: ry_str,
}
#[repr(C)]
pub struct ry_run_file {
    pub struct_size: u32,
    pub reserved0: u32,
    pub name: ry_str,
    pub media_type: ry_str,
    pub content: ry_bytes,
}
#[repr(C)]
pub struct ry_run_start {
    pub struct_size: u32,
    pub reserved0: u32,
    pub account_id: ry_uuid,
    pub fields: *const ry_run_field,
    pub n_fields: usize,
    pub files: *const ry_run_file,
    pub n_files: usize,
    pub file_stride: usize,
    pub idempotency_key: ry_str,
    pub tx: *mut ry_tx,
}
#[repr(C)]
pub struct ry_run_started {
    pub struct_size: u32,
    pub replayed: u32,
    pub queue_position: i64,
    pub run_id: ry_str,
    pub thread_id: ry_str,
    pub project_id: ry_str,
    pub message_id: ry_str,
}
pub type ry_run_started_fn = extern "C" fn(*mut c_void, ry_status, *const ry_run_started, *const ry_error_view);
pub type ry_run_json_fn = extern "C" fn(*mut c_void, ry_status, ry_str, *const ry_error_view);
#[repr(C)]
pub struct ry_run_event {
    pub sequence: u64,
    pub json: ry_str,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ry_run_sink {
    pub struct_size: u32,
    pub reserved0: u32,
    pub on_events: extern "C" fn(*mut c_void, *const ry_run_event, usize, usize) -> ry_status,
    pub on_end: extern "C" fn(*mut c_void, ry_status, *const ry_error_view),
}
#[repr(C)]
pub struct ry_run_follow {
    pub struct_size: u32,
    pub flags: u32,
    pub account_id: ry_uuid,
    pub run_id: ry_uuid,
    pub after: u64,
    pub merge_ms: u64,
}
pub const RY_RUN_TOOL_ANY_CALL: u32 = 1;
pub const RY_RUN_TOOL_RUN: i32 = 1;
pub const RY_RUN_TOOL_ASK: i32 = 2;
pub const RY_RUN_TOOL_DENY: i32 = 3;
#[repr(C)]
pub struct ry_run_tool_call {
    pub struct_size: u32,
    pub flags: u32,
    pub name: ry_str,
    pub arguments_json: ry_str,
}
#[repr(C)]
pub struct ry_runs_v1 {
    pub struct_size: u32,
    pub reserved0: u32,
    pub start: extern "C" fn(*mut c_void, *const ry_run_start, *mut ry_exec, ry_run_started_fn, *mut c_void) -> ry_status,
    pub wake: extern "C" fn(*mut c_void),
    pub follow: extern "C" fn(*mut c_void, *const ry_run_follow, *mut ry_exec, *const ry_run_sink, *mut c_void, *mut *mut c_void) -> ry_status,
    pub resume: extern "C" fn(*mut c_void, *mut c_void),
    pub close: extern "C" fn(*mut c_void, *mut c_void),
    pub stop: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_uuid, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub get: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_uuid, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub list: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_run_field, usize, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub messages: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_uuid, *const ry_run_field, usize, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub delete_thread: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_uuid, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub models: extern "C" fn(*mut c_void, *const ry_uuid, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub approvals: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_run_field, usize, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub decide: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_uuid, ry_str, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub tool_results: extern "C" fn(*mut c_void, *const ry_uuid, *const ry_uuid, ry_str, *mut ry_exec, ry_run_json_fn, *mut c_void) -> ry_status,
    pub tool_action: extern "C" fn(*mut c_void, *const ry_run_tool_call) -> i32,
}

// ---- mcp.transport/1 ----

pub const RY_MCP_EXCHANGES: u32 = 1;
pub const RY_MCP_HEADERS: u32 = 2;
pub const RY_MCP_MODERN: u32 = 4;
pub const RY_MCP_LOCAL: u32 = 8;
pub const RY_MCP_RESOLVES: u32 = 16;
pub const RY_MCP_AUTHORIZES: u32 = 32;
pub const RY_MCP_OPERATOR: u32 = 1;
pub const RY_MCP_UNSANDBOXED: u32 = 2;

#[repr(C)]
pub struct ry_mcp_target {
    pub struct_size: u32,
    pub flags: u32,
    pub server: ry_str,
    pub config_json: ry_str,
    pub account_id: ry_str,
    pub identity: ry_str,
    pub connect_timeout_ms: u64,
    pub max_message_bytes: u64,
}
#[repr(C)]
pub struct ry_mcp_message {
    pub struct_size: u32,
    pub kind: u32,
    pub token: u64,
    pub json: ry_str,
    pub headers: *const ry_header,
    pub n_headers: usize,
    pub timeout_ms: u64,
}
#[repr(C)]
pub struct ry_mcp_outcome {
    pub struct_size: u32,
    pub flags: u32,
    pub http_status: u32,
    pub retry_after_s: u32,
    pub body: ry_str,
    pub authenticate: ry_str,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ry_mcp_sink {
    pub struct_size: u32,
    pub reserved0: u32,
    pub on_message: extern "C" fn(*mut c_void, u64, ry_str) -> ry_status,
    pub on_sent: extern "C" fn(*mut c_void, u64, ry_status, *const ry_mcp_outcome, *const ry_error_view),
    pub on_closed: extern "C" fn(*mut c_void, ry_status, *const ry_error_view),
}
pub type ry_mcp_resolved_fn = extern "C" fn(*mut c_void, ry_status, ry_str, ry_str, *const ry_error_view);
#[repr(C)]
pub struct ry_mcp_refusal {
    pub struct_size: u32,
    pub http_status: u32,
    pub config_json: ry_str,
    pub authenticate: ry_str,
}
#[repr(C)]
pub struct ry_mcp_transport_v1 {
    pub struct_size: u32,
    pub capabilities: u32,
    pub check: extern "C" fn(*mut c_void, *const ry_mcp_target, *mut ry_errbuf) -> ry_status,
    pub open: extern "C" fn(*mut c_void, *const ry_mcp_target, *mut ry_exec, *const ry_mcp_sink, *mut c_void, *mut *mut c_void, *mut ry_errbuf) -> ry_status,
    pub send: extern "C" fn(*mut c_void, *mut c_void, *const ry_mcp_message) -> ry_status,
    pub finish: extern "C" fn(*mut c_void, *mut c_void, u64, i32),
    pub resume: extern "C" fn(*mut c_void, *mut c_void),
    pub close: extern "C" fn(*mut c_void, *mut c_void),
    pub resolve: extern "C" fn(*mut c_void, *const ry_mcp_target, *mut ry_exec, ry_mcp_resolved_fn, *mut c_void) -> ry_status,
    pub authorize: extern "C" fn(*mut c_void, *const ry_mcp_target, *const ry_mcp_refusal, *mut ry_exec, ry_mcp_resolved_fn, *mut c_void) -> ry_status,
}
unsafe impl Sync for ry_mcp_transport_v1 {}

// ---- helpers for every module in Rust ----

/// The exception firewall: a panic must not leave a callback.
pub fn guard(f: impl FnOnce() -> ry_status) -> ry_status {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(RY_INTERNAL)
}

/// The section `.ry.module`: the module's manifest as JSON; it must match the descriptor.
#[macro_export]
macro_rules! ry_module_section {
    ($facts:expr) => {
        const fn ry_facts() -> [u8; $facts.len()] {
            let mut out = [0u8; $facts.len()];
            let mut i = 0;
            while i < out.len() {
                out[i] = $facts.as_bytes()[i];
                i += 1;
            }
            out
        }
        #[used]
        #[link_section = ".ry.module"]
        static RY_FACTS: [u8; $facts.len()] = ry_facts();
    };
}

/// Sizes on 64-bit machines, as released; the same as in sdk/abi/witness.c.
macro_rules! size {
    ($what:ty, $size:expr) => {
        const _: () = assert!(size_of::<$what>() == $size);
    };
}
size!(ry_str, 16);
size!(ry_uuid, 16);
size!(ry_errbuf, 24);
size!(ry_error_view, 64);
size!(ry_done, 16);
size!(ry_header, 32);
size!(ry_principal, 96);
size!(ry_need, 32);
size!(ry_module_v1, 152);
size!(ry_core_v1, 96);
size!(ry_request_view, 192);
size!(ry_http_v1, 128);
size!(ry_route, 88);
size!(ry_registrar_v1, 72);
size!(ry_services_v1, 32);
size!(ry_tier_view, 80);
size!(ry_account_view, 80);
size!(ry_accounts_v1, 32);
size!(ry_run_field, 32);
size!(ry_run_file, 56);
size!(ry_run_start, 88);
size!(ry_run_started, 80);
size!(ry_run_event, 24);
size!(ry_run_sink, 24);
size!(ry_run_follow, 56);
size!(ry_run_tool_call, 40);
size!(ry_runs_v1, 128);
size!(ry_mcp_target, 88);
size!(ry_mcp_message, 56);
size!(ry_mcp_outcome, 48);
size!(ry_mcp_sink, 32);
size!(ry_mcp_refusal, 40);
size!(ry_mcp_transport_v1, 72);
