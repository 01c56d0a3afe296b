//! A client of runs/1 in plain Rust: POST /relay_rust starts a run with the fields of a JSON object of strings, and
//! responds with {run_id, text, events, end} after its last event.
//!   ?run=ID               follows this run instead of a new one
//!   ?after=N&merge_ms=N   see ry_run_follow
//!   ?pause_ms=N           pauses the reader after each batch
//!   ?decide=ID            decides on this approval instead; the body is the decision
#[macro_use]
mod ry_sys;
use ry_sys::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr::{null, null_mut};

const MAX_MS: u64 = 120_000;
const DESCRIPTION: &str = r#"{"paths": {"/relay_rust": {"post": {
    "operationId": "relay", "summary": "Start a run, or follow one",
    "parameters": [{"name": "run", "in": "query", "schema": {"type": "string"}},
                   {"name": "after", "in": "query", "schema": {"type": "string"}},
                   {"name": "merge_ms", "in": "query", "schema": {"type": "integer"}},
                   {"name": "pause_ms", "in": "query", "schema": {"type": "integer"}},
                   {"name": "decide", "in": "query", "schema": {"type": "string"}}],
    "responses": {"200": {"description": "The events", "content": {"application/json": {"schema": {}}}},
                  "default": {"description": "The error of runs/1", "content": {"application/json": {"schema": {}}}}}}}}}"#;

/// A service of another module while the module runs.
struct Service<T> {
    table: *const T,
    this: *mut c_void,
    lease: *mut ry_lease,
}
impl<T> Clone for Service<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Service<T> {}
impl<T> Service<T> {
    const NONE: Service<T> = Service { table: null(), this: null_mut(), lease: null_mut() };
    fn acquire(m: &Module, id: &str) -> Result<Service<T>, ry_status> {
        let mut out = Service::NONE;
        let table = &mut out.table as *mut *const T as *mut *const c_void;
        let st = (m.services.acquire)(m.host, ry_str::of(id), size_of::<T>() as u32, table, &mut out.this, &mut out.lease);
        if st == RY_OK {
            Ok(out)
        } else {
            Err(st)
        }
    }
    fn table(&self) -> &'static T {
        unsafe { &*self.table }
    }
}

struct Module {
    host: *const ry_host,
    core: &'static ry_core_v1,
    http: &'static ry_http_v1,
    services: &'static ry_services_v1,
    accounts: Cell<Service<ry_accounts_v1>>,
    runs: Cell<Service<ry_runs_v1>>,
}

/// One request. Used on its executor only; freed when it has ended and no call is outstanding.
struct Relay {
    m: *const Module,
    request: *mut ry_request,
    exec: *mut ry_exec,
    account: ry_uuid,
    fields: Vec<(String, String)>,
    approval: Option<ry_uuid>,
    decision: String,
    run: String,
    after: u64,
    merge_ms: u64,
    pause_ms: u64,
    reader: *mut c_void,
    text: String,    // as in JSON
    current: String, // of the attempt of the model
    events: String,
    outstanding: u32,
    ended: bool,
}

impl Relay {
    fn m(&self) -> &'static Module {
        unsafe { &*self.m }
    }
    fn runs(&self) -> Service<ry_runs_v1> {
        self.m().runs.get()
    }
    /// # Safety
    /// `r` is a relay, which may not exist afterwards.
    unsafe fn free_if_unused(r: *mut Relay) {
        if (*r).ended && (*r).outstanding == 0 {
            drop(Box::from_raw(r));
        }
    }
    fn close(&mut self) {
        self.ended = true;
        if !self.reader.is_null() {
            (self.runs().table().close)(self.runs().this, self.reader);
            self.reader = null_mut();
        }
    }
    fn respond(&mut self, end: &str) {
        let body = format!(
            "{{\"run_id\":\"{}\",\"text\":\"{}{}\",\"events\":[{}],\"end\":\"{}\"}}",
            self.run, self.text, self.current, self.events, end
        );
        self.send(ry_str::of(&body));
    }
    fn send(&mut self, body: ry_str) {
        let header = ry_header { name: ry_str::of("Content-Type"), value: ry_str::of("application/json") };
        (self.m().http.respond)(self.request, 200, &header, 1, body);
        self.close();
    }
    fn fail(&mut self, st: ry_status, err: *const ry_error_view) {
        let own = ry_error_view {
            struct_size: size_of::<ry_error_view>() as u32,
            status: st,
            reason: ry_str::of("relay.failed"),
            message: ry_str::of("The run could not be relayed"),
            detail_json: ry_str::NONE,
            http_status: 0,
            retry_after_s: 0,
        };
        (self.m().http.fail)(self.request, if err.is_null() { &own } else { err });
        self.close();
    }
    fn ensure_account(&mut self, principal: *const ry_principal) -> ry_status {
        let accounts = self.m().accounts.get();
        self.outstanding += 1;
        let this = self as *mut Relay as *mut c_void;
        let st = (accounts.table().ensure)(accounts.this, principal, self.exec, on_account, this);
        if st != RY_OK {
            self.outstanding -= 1;
        }
        st
    }
    fn start(&mut self) {
        let fields: Vec<ry_run_field> =
            self.fields.iter().map(|(n, v)| ry_run_field { name: ry_str::of(n), value: ry_str::of(v) }).collect();
        let start = ry_run_start {
            struct_size: size_of::<ry_run_start>() as u32,
            reserved0: 0,
            account_id: self.account,
            fields: fields.as_ptr(),
            n_fields: fields.len(),
            files: null(),
            n_files: 0,
            file_stride: size_of::<ry_run_file>(),
            idempotency_key: ry_str::NONE,
            tx: null_mut(),
        };
        self.outstanding += 1;
        let this = self as *mut Relay as *mut c_void;
        let st = (self.runs().table().start)(self.runs().this, &start, self.exec, on_started, this);
        if st != RY_OK {
            self.outstanding -= 1;
            self.fail(st, null());
        }
    }
    fn decide(&mut self, approval: ry_uuid) {
        self.outstanding += 1;
        let this = self as *mut Relay as *mut c_void;
        let runs = self.runs();
        let decision = ry_str::of(&self.decision);
        let st = (runs.table().decide)(runs.this, &self.account, &approval, decision, self.exec, on_decided, this);
        if st != RY_OK {
            self.outstanding -= 1;
            self.fail(st, null());
        }
    }
    fn follow(&mut self) {
        let run_id = match ry_uuid::parse(&self.run) {
            Some(id) => id,
            None => return self.fail(RY_INVALID_ARGUMENT, null()),
        };
        let what = ry_run_follow {
            struct_size: size_of::<ry_run_follow>() as u32,
            flags: 0,
            account_id: self.account,
            run_id,
            after: self.after,
            merge_ms: self.merge_ms,
        };
        let sink = ry_run_sink { struct_size: size_of::<ry_run_sink>() as u32, reserved0: 0, on_events, on_end };
        let this = self as *mut Relay as *mut c_void;
        let mut reader = null_mut();
        let st = (self.runs().table().follow)(self.runs().this, &what, self.exec, &sink, this, &mut reader);
        if st != RY_OK {
            return self.fail(st, null());
        }
        self.reader = reader;
    }
    fn add(&mut self, json: &str) {
        if !self.events.is_empty() {
            self.events.push(',');
        }
        self.events.push_str(json);
        match member(json, "type") {
            "llm_response_start" | "turn_aborted" => self.current.clear(),
            "llm_response_chunk" => self.current.push_str(member(json, "content")),
            "llm_response_end" => {
                let text = std::mem::take(&mut self.current);
                self.text.push_str(&text);
            }
            _ => {}
        }
    }
}

/// A string member as in JSON, without its quotes.
fn member<'a>(json: &'a str, name: &str) -> &'a str {
    let key = format!("\"{}\": \"", name);
    let rest = match json.find(&key) {
        Some(at) => &json[at + key.len()..],
        None => return "",
    };
    let mut escaped = false;
    for (i, c) in rest.bytes().enumerate() {
        match c {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return &rest[..i],
            _ => {}
        }
    }
    ""
}

/// Reads a JSON object whose members are strings.
fn flat_json(text: &str) -> Option<Vec<(String, String)>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
    let mut out = Vec::new();
    while !rest.is_empty() {
        if !out.is_empty() {
            rest = rest.strip_prefix(',')?.trim_start();
        }
        let (name, after) = string(rest)?;
        let (value, after) = string(after.trim_start().strip_prefix(':')?.trim_start())?;
        out.push((name, value));
        rest = after.trim_start();
    }
    Some(out)
}
fn string(text: &str) -> Option<(String, &str)> {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text.strip_prefix('"')?.chars();
    loop {
        match rest.next()? {
            '"' => return Some((String::from_utf16(&units).ok()?, rest.as_str())),
            '\\' => match rest.next()? {
                'u' => {
                    let tail = rest.as_str();
                    units.push(u16::from_str_radix(tail.get(..4)?, 16).ok()?);
                    rest = tail[4..].chars();
                }
                c => units.push(match c {
                    'b' => 8,
                    'f' => 12,
                    'n' => 10,
                    'r' => 13,
                    't' => 9,
                    other => other as u16,
                }),
            },
            c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }
}

fn query<'a>(text: &'a str, name: &str) -> &'a str {
    text.split('&').filter_map(|p| p.split_once('=')).find(|(n, _)| *n == name).map_or("", |(_, v)| v)
}

// ---- completions, each on the request's executor ----

extern "C" fn on_account(ctx: *mut c_void, st: ry_status, account: *const ry_account_view, err: *const ry_error_view) {
    guard(|| unsafe {
        let relay = ctx as *mut Relay;
        (*relay).outstanding -= 1;
        if !(*relay).ended {
            if st != RY_OK {
                (*relay).fail(st, err);
            } else {
                let relay = &mut *relay;
                relay.account = (*account).account_id;
                if let Some(approval) = relay.approval {
                    relay.decide(approval);
                } else if relay.run.is_empty() {
                    relay.start();
                } else {
                    relay.follow();
                }
            }
        }
        Relay::free_if_unused(relay);
        RY_OK
    });
}

extern "C" fn on_decided(ctx: *mut c_void, st: ry_status, approval: ry_str, err: *const ry_error_view) {
    guard(|| unsafe {
        let relay = ctx as *mut Relay;
        (*relay).outstanding -= 1;
        if !(*relay).ended {
            if st != RY_OK {
                (*relay).fail(st, err);
            } else {
                (*relay).send(approval);
            }
        }
        Relay::free_if_unused(relay);
        RY_OK
    });
}

extern "C" fn on_started(ctx: *mut c_void, st: ry_status, started: *const ry_run_started, err: *const ry_error_view) {
    guard(|| unsafe {
        let relay = ctx as *mut Relay;
        (*relay).outstanding -= 1;
        if !(*relay).ended {
            if st != RY_OK {
                (*relay).fail(st, err);
            } else {
                (*relay).run = (*started).run_id.to_text();
                (*relay).follow();
            }
        }
        Relay::free_if_unused(relay);
        RY_OK
    });
}

extern "C" fn on_events(ctx: *mut c_void, events: *const ry_run_event, n: usize, stride: usize) -> ry_status {
    guard(|| unsafe {
        let relay = &mut *(ctx as *mut Relay);
        for i in 0..n {
            let event = &*((events as *const u8).add(i * stride) as *const ry_run_event);
            relay.add(&event.json.to_text());
        }
        if relay.pause_ms == 0 {
            return RY_OK;
        }
        let done = ry_done { call: on_pause_end, ctx };
        relay.outstanding += 1;
        let st = (relay.m().core.sleep_ms)(relay.m().host, relay.exec, relay.pause_ms, done, null_mut());
        if st != RY_OK {
            relay.outstanding -= 1;
            return st;
        }
        RY_RESOURCE_EXHAUSTED
    })
}

extern "C" fn on_pause_end(ctx: *mut c_void, _: ry_status, _: *const ry_error_view) {
    guard(|| unsafe {
        let relay = ctx as *mut Relay;
        (*relay).outstanding -= 1;
        if !(*relay).ended {
            ((*relay).runs().table().resume)((*relay).runs().this, (*relay).reader);
        }
        Relay::free_if_unused(relay);
        RY_OK
    });
}

extern "C" fn on_end(ctx: *mut c_void, st: ry_status, err: *const ry_error_view) {
    guard(|| unsafe {
        let relay = ctx as *mut Relay;
        match st {
            RY_OK => (*relay).respond("OK"),
            RY_CANCELLED => (*relay).respond("CANCELLED"),
            _ => (*relay).fail(st, err),
        }
        Relay::free_if_unused(relay);
        RY_OK
    });
}

/// The client has disconnected, the deadline has passed, or the host drains: the client may follow again later.
extern "C" fn on_cancel(ctx: *mut c_void, _why: i32) {
    guard(|| unsafe {
        let relay = ctx as *mut Relay;
        if !(*relay).ended {
            (*relay).respond("CANCELLED");
        }
        Relay::free_if_unused(relay);
        RY_OK
    });
}

extern "C" fn serve(ctx: *mut c_void, view: *const ry_request_view, request: *mut ry_request) -> ry_status {
    guard(|| unsafe {
        let m = ctx as *const Module;
        let parameters = (*view).query.to_text();
        let number = |name| query(&parameters, name).parse::<u64>().unwrap_or(0);
        let run = query(&parameters, "run").to_string();
        let decision = (*view).body.to_text();
        let approval = ry_uuid::parse(query(&parameters, "decide"));
        let fields = match flat_json(&decision) {
            Some(fields) => fields,
            None if !run.is_empty() => Vec::new(),
            None => return RY_INVALID_ARGUMENT,
        };
        let relay = Box::into_raw(Box::new(Relay {
            m,
            request,
            exec: (*view).exec,
            account: ry_uuid::default(),
            fields,
            approval,
            decision,
            run,
            after: number("after"),
            merge_ms: number("merge_ms"),
            pause_ms: number("pause_ms").min(MAX_MS),
            reader: null_mut(),
            text: String::new(),
            current: String::new(),
            events: String::new(),
            outstanding: 0,
            ended: false,
        }));
        let st = (*relay).ensure_account((*view).principal);
        if st != RY_OK {
            drop(Box::from_raw(relay));
            return st;
        }
        ((*m).http.on_cancel)(request, on_cancel, relay as *mut c_void)
    })
}

// ---- lifecycle ----

extern "C" fn create(
    host: *const ry_host,
    get: ry_get_interface_fn,
    registrar: *mut ry_registrar,
    _config_json: ry_str,
    out: *mut *mut c_void,
    err: *mut ry_errbuf,
) -> ry_status {
    guard(|| {
        let core = get(host, ry_str::of("ry.core/1"), size_of::<ry_core_v1>() as u32) as *const ry_core_v1;
        let http = get(host, ry_str::of("ry.http/1"), size_of::<ry_http_v1>() as u32) as *const ry_http_v1;
        let services = get(host, ry_str::of("ry.services/1"), size_of::<ry_services_v1>() as u32);
        let reg = get(host, ry_str::of("ry.registrar/1"), size_of::<ry_registrar_v1>() as u32);
        let (services, reg) = (services as *const ry_services_v1, reg as *const ry_registrar_v1);
        if core.is_null() || http.is_null() || services.is_null() || reg.is_null() {
            say(err, "the host lacks a required interface");
            return RY_UNAVAILABLE;
        }
        let module = unsafe {
            Module {
                host,
                core: &*core,
                http: &*http,
                services: &*services,
                accounts: Cell::new(Service::NONE),
                runs: Cell::new(Service::NONE),
            }
        };
        let m = Box::into_raw(Box::new(module));
        let route = ry_route {
            struct_size: size_of::<ry_route>() as u32,
            flags: RY_ROUTE_LONG,
            method: ry_str::of("POST"),
            pattern: ry_str::of("/relay_rust"),
            handle: serve,
            ctx: m as *mut c_void,
            max_body: 0,
            timeout_ms: 0,
            openapi_json: ry_str::NONE,
        };
        let mut st = (unsafe { &*reg }.route)(registrar, &route);
        if st == RY_OK {
            st = (unsafe { &*reg }.describe)(registrar, ry_str::of(DESCRIPTION));
        }
        if st != RY_OK {
            drop(unsafe { Box::from_raw(m) });
            return st;
        }
        unsafe { *out = m as *mut c_void };
        RY_OK
    })
}
extern "C" fn start(this: *mut c_void, err: *mut ry_errbuf) -> ry_status {
    guard(|| {
        let m = unsafe { &*(this as *const Module) };
        match (Service::acquire(m, "accounts/1"), Service::acquire(m, "runs/1")) {
            (Ok(accounts), Ok(runs)) => {
                m.accounts.set(accounts);
                m.runs.set(runs);
                RY_OK
            }
            (Err(st), _) | (_, Err(st)) => {
                say(err, "a service is not available");
                st
            }
        }
    })
}
extern "C" fn stop(_: *mut c_void, _deadline_unix_us: i64, done: ry_done) {
    (done.call)(done.ctx, RY_OK, null());
}
extern "C" fn destroy(this: *mut c_void) {
    guard(|| {
        let m = unsafe { Box::from_raw(this as *mut Module) };
        for lease in [m.accounts.get().lease, m.runs.get().lease] {
            if !lease.is_null() {
                (m.services.release)(lease);
            }
        }
        RY_OK
    });
}
extern "C" fn health(_: *mut c_void, _: *mut ry_errbuf) -> ry_status {
    RY_OK
}

const FACTS: &str = "{\"name\":\"relay_rust\",\"version\":\"0.1.0\",\"abi_major\":1,\"abi_minor\":0,\
    \"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.core/1\",\"optional\":false},\
    {\"id\":\"ry.http/1\",\"optional\":false},{\"id\":\"ry.services/1\",\"optional\":false},\
    {\"id\":\"accounts/1\",\"optional\":false},{\"id\":\"runs/1\",\"optional\":false}],\"provides\":[]}";
ry_module_section!(FACTS);

static NEEDS: [ry_need; 5] =
    [need("ry.core/1"), need("ry.http/1"), need("ry.services/1"), need("accounts/1"), need("runs/1")];
static MODULE: ry_module_v1 = ry_module_v1 {
    magic: RY_ABI_MAGIC,
    struct_size: size_of::<ry_module_v1>() as u32,
    abi_major: RY_ABI_MAJOR,
    abi_minor: RY_ABI_MINOR,
    min_host_minor: 0,
    flags: 0,
    name: ry_str::of("relay_rust"),
    version: ry_str::of("0.1.0"),
    config_schema_json: ry_str::NONE,
    needs: NEEDS.as_ptr(),
    n_needs: NEEDS.len(),
    need_stride: size_of::<ry_need>(),
    provides: null(),
    n_provides: 0,
    create,
    start,
    stop,
    destroy,
    health,
};

#[no_mangle]
pub extern "C" fn ry_module_entry() -> *const ry_module_v1 {
    // With older compilers the linker may drop a static that is referenced only by #[used].
    unsafe { std::ptr::read_volatile(RY_FACTS.as_ptr()) };
    &MODULE
}
