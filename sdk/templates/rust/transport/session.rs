//! A connection to one MCP server over a Unix socket: one JSON text per line. Each session has a reader and a
//! writer thread, which block on the socket; they post events to the opener's executor, because the sink may
//! only be called there. The threads, the opener and pending callbacks share the session.
use crate::ry_sys::*;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::mem::size_of;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::ptr::null;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const MAX_UNSENT: usize = 64; // messages that have not been written
const MAX_UNDELIVERED: usize = 1 << 20; // bytes that wait for the executor
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1); // for messages that were sent before close()

/// The host's functions that sessions use, and the threads of all sessions.
pub struct Host {
    pub host: *const ry_host,
    pub core: &'static ry_core_v1,
    threads: Mutex<Vec<JoinHandle<()>>>,
}
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

impl Host {
    pub fn new(host: *const ry_host, core: &'static ry_core_v1) -> Host {
        Host { host, core, threads: Mutex::default() }
    }
    fn spawn(&self, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
        let thread = thread::Builder::new().spawn(work).map_err(|_| "the thread could not be started")?;
        let mut all = self.threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.retain(|t| !t.is_finished());
        all.push(thread);
        Ok(())
    }
    /// Joins all threads. All sessions are closed, so the threads exit within CLOSE_TIMEOUT.
    pub fn join(&self) {
        let mut all = self.threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for thread in all.drain(..) {
            let _ = thread.join();
        }
    }
}

enum Event {
    Message(Vec<u8>),
    Sent(u64),
    Closed(ry_status, String),
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    undelivered: usize,
    unsent: VecDeque<(u64, Vec<u8>)>,
    tokens: Vec<u64>, // sent and not reported yet
    posted: bool,
    paused: bool,
    closed: bool, // by the opener
    ended: bool,  // Closed was added or reported
}

pub struct Session {
    host: Arc<Host>,
    exec: *mut ry_exec,
    sink: ry_mcp_sink,
    ctx: *mut c_void,
    max_message: u64,
    socket: UnixStream,
    state: Mutex<State>,
    changed: Condvar,
}
// The raw pointers belong to the host; they are used on the executor or passed back to the host.
unsafe impl Send for Session {}
unsafe impl Sync for Session {}

impl Session {
    /// Connects and starts the threads; returns an error message if that fails.
    pub fn open(host: &Arc<Host>, path: &str, target: &ry_mcp_target, exec: *mut ry_exec, sink: &ry_mcp_sink, ctx: *mut c_void) -> Result<Arc<Session>, String> {
        let socket = UnixStream::connect(path).map_err(|e| format!("the server at {} cannot be reached: {}", path, e))?;
        let copy = || socket.try_clone().map_err(|_| String::from("no file descriptors are available"));
        let (input, output) = (copy()?, copy()?);
        let max_message = if target.max_message_bytes == 0 { u64::MAX } else { target.max_message_bytes };
        let session = Arc::new(Session {
            host: host.clone(),
            exec,
            sink: *sink,
            ctx,
            max_message,
            socket,
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        });
        let (reader, writer) = (session.clone(), session.clone());
        host.spawn(move || reader.read(input))?;
        if let Err(e) = host.spawn(move || writer.write(output)) {
            session.close();
            return Err(e);
        }
        Ok(session)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    // ---- on the executor ----

    pub fn send(&self, token: u64, json: &[u8]) -> ry_status {
        let mut s = self.lock();
        if s.closed || s.ended {
            return RY_CANCELLED;
        }
        if s.tokens.len() >= MAX_UNSENT {
            return RY_RESOURCE_EXHAUSTED;
        }
        let mut line = Vec::with_capacity(json.len() + 1);
        line.extend_from_slice(json);
        line.push(b'\n');
        s.tokens.push(token);
        s.unsent.push_back((token, line));
        self.changed.notify_all();
        RY_OK
    }
    pub fn finish(&self, token: u64) {
        self.lock().tokens.retain(|t| *t != token);
    }
    pub fn resume(self: &Arc<Self>) {
        let mut s = self.lock();
        s.paused = false;
        self.post(&mut s);
        self.changed.notify_all();
    }
    pub fn close(&self) {
        let mut s = self.lock();
        s.closed = true;
        let _ = self.socket.set_write_timeout(Some(CLOSE_TIMEOUT));
        let _ = self.socket.shutdown(Shutdown::Read);
        self.changed.notify_all();
    }

    extern "C" fn deliver(p: *mut c_void) {
        guard(|| {
            let session = unsafe { Arc::from_raw(p as *const Session) };
            session.lock().posted = false;
            loop {
                let event = {
                    let mut s = session.lock();
                    if s.closed || s.paused {
                        break;
                    }
                    let event = s.events.pop_front();
                    if let Some(Event::Message(text)) = &event {
                        s.undelivered -= text.len();
                        session.changed.notify_all();
                    }
                    if let Some(Event::Sent(token)) = event {
                        if !s.tokens.contains(&token) {
                            continue;
                        }
                        s.tokens.retain(|t| *t != token);
                    }
                    event
                };
                // Without the lock, because the sink may call back.
                match event {
                    None => break,
                    Some(Event::Message(text)) => {
                        match (session.sink.on_message)(session.ctx, 0, ry_str::of_bytes(&text)) {
                            RY_OK => {}
                            RY_RESOURCE_EXHAUSTED => session.lock().paused = true,
                            st => session.fail(st),
                        }
                    }
                    Some(Event::Sent(token)) => {
                        let outcome = ry_mcp_outcome {
                            struct_size: size_of::<ry_mcp_outcome>() as u32,
                            flags: 0,
                            http_status: 0,
                            retry_after_s: 0,
                            body: ry_str::NONE,
                            authenticate: ry_str::NONE,
                        };
                        (session.sink.on_sent)(session.ctx, token, RY_OK, &outcome, null());
                    }
                    Some(Event::Closed(st, why)) => session.report_closed(st, &why),
                }
            }
            RY_OK
        });
    }
    fn fail(&self, st: ry_status) {
        let mut s = self.lock();
        if s.closed || s.ended {
            return;
        }
        s.ended = true;
        drop(s);
        let _ = self.socket.shutdown(Shutdown::Both);
        self.report_closed(st, "a message could not be processed");
    }
    fn report_closed(&self, status: ry_status, message: &str) {
        let view = ry_error_view {
            struct_size: size_of::<ry_error_view>() as u32,
            status,
            reason: ry_str::NONE,
            message: ry_str::of(message),
            detail_json: ry_str::NONE,
            http_status: 0,
            retry_after_s: 0,
        };
        (self.sink.on_closed)(self.ctx, status, &view);
    }

    // ---- on the threads ----

    fn post(self: &Arc<Self>, s: &mut State) {
        if s.posted || s.closed || s.paused || s.events.is_empty() {
            return;
        }
        s.posted = true;
        let p = Arc::into_raw(self.clone()) as *mut c_void;
        if (self.host.core.exec_post)(self.host.host, self.exec, Session::deliver, p) != RY_OK {
            s.posted = false;
            drop(unsafe { Arc::from_raw(p as *const Session) });
        }
    }
    fn add(self: &Arc<Self>, event: Event) {
        let mut s = self.lock();
        if s.closed || s.ended {
            return;
        }
        match &event {
            Event::Message(text) => s.undelivered += text.len(),
            Event::Closed(..) => s.ended = true,
            Event::Sent(_) => {}
        }
        s.events.push_back(event);
        self.post(&mut s);
        self.changed.notify_all();
    }

    fn read(self: Arc<Self>, input: UnixStream) {
        let mut input = BufReader::new(input);
        let (status, reason) = loop {
            let mut s = self.lock();
            while !s.closed && (s.paused || s.undelivered >= MAX_UNDELIVERED) {
                s = self.changed.wait(s).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            if s.closed {
                return;
            }
            drop(s);
            let mut line = Vec::new();
            let limit = self.max_message.saturating_add(2);
            let result = (&mut input).take(limit).read_until(b'\n', &mut line);
            while matches!(line.last(), Some(b'\n') | Some(b'\r')) {
                line.pop();
            }
            match result {
                Ok(0) => break (RY_OK, "the server closed the connection"),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => break (RY_UNAVAILABLE, "the connection broke"),
                Ok(_) if line.len() as u64 > self.max_message => break (RY_RESOURCE_EXHAUSTED, "a line is longer than allowed"),
                Ok(_) if line.is_empty() => {}
                Ok(_) => self.add(Event::Message(line)),
            }
        };
        self.add(Event::Closed(status, reason.into()));
        // After close() the writer still sends the remaining messages.
        if !self.lock().closed {
            let _ = self.socket.shutdown(Shutdown::Both);
        }
    }

    fn write(self: Arc<Self>, mut output: UnixStream) {
        loop {
            let mut s = self.lock();
            while s.unsent.is_empty() && !s.closed && !s.ended {
                s = self.changed.wait(s).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            let (token, line) = match s.unsent.pop_front() {
                Some(next) if !s.ended => next,
                _ => break,
            };
            drop(s);
            // The reader reports the error.
            if output.write_all(&line).is_err() {
                break;
            }
            self.add(Event::Sent(token));
        }
        if self.lock().closed {
            let _ = self.socket.shutdown(Shutdown::Both);
        }
    }
}
