//! What processes share without a file or a connection: System V objects, POSIX queues and memory, keys.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::PathBuf;

use nix::mqueue::{MQ_OFlag, MqAttr, mq_close, mq_open, mq_receive, mq_send, mq_unlink};
use nix::sys::stat::Mode;

use super::{Secrets, new_secret};
use crate::canary::{Canary, random_hex, sha256};
use crate::context::{Ipc, Key, SysV};
use crate::sys;

/// Messages in each queue: several techniques take one each.
const MESSAGES: u32 = 8;

/// What was made; gone when dropped. What a host has not got is left out, and techniques about it say so.
pub(super) struct Objects {
    pub(super) ipc: Ipc,
    pub(super) keys: Vec<Key>,
}

impl Objects {
    pub(super) fn plant(secrets: &mut Secrets) -> io::Result<Self> {
        // Held from the beginning, so that an error below leaves nothing behind.
        let mut objects = Self { ipc: Ipc::default(), keys: Vec::new() };
        let key = random_key()?;
        let canary = new_secret(secrets, "shm")?;
        objects.ipc.shm = sys::shm_id(key, true).ok().map(|id| SysV { key, id });
        if let Some(shm) = &objects.ipc.shm {
            sys::shm_write(shm.id, padded(&canary))?;
        }
        let canary = new_secret(secrets, "msg")?;
        objects.ipc.msg = sys::msg_id(key, true).ok().map(|id| SysV { key, id });
        if let Some(msg) = &objects.ipc.msg {
            for _ in 0..MESSAGES {
                sys::msg_send(msg.id, padded(&canary))?;
            }
        }
        objects.ipc.sem = sys::sem_id(key, true).ok().map(|id| SysV { key, id });
        if let Some(sem) = &objects.ipc.sem {
            let value = random_key()? % 32_000 + 1;
            secrets.insert("semaphore".into(), sha256(format!("semaphore {value}").as_bytes()));
            sys::sem_set(sem.id, value)?;
        }
        objects.plant_posix(secrets)?;
        for (ring, name) in [(sys::Ring::Session, "session"), (sys::Ring::User, "user")] {
            objects.keys.extend(plant_key(ring, name, secrets).ok());
        }
        Ok(objects)
    }

    fn plant_posix(&mut self, secrets: &mut Secrets) -> io::Result<()> {
        let name = format!("/skillsandbox-probe-{}", random_hex(8)?);
        let canary = new_secret(secrets, "mq")?;
        let attributes =
            MqAttr::new(0, i64::from(MESSAGES), i64::try_from(sys::SIZE).map_err(io::Error::other)?, 0);
        let flags = MQ_OFlag::O_CREAT | MQ_OFlag::O_EXCL | MQ_OFlag::O_WRONLY | MQ_OFlag::O_NONBLOCK;
        if let Ok(queue) = mq_open(name.as_str(), flags, Mode::from_bits_truncate(0o666), Some(&attributes)) {
            self.ipc.mq = Some(name.clone());
            for _ in 0..MESSAGES {
                mq_send(&queue, &padded(&canary), 0)?;
            }
            mq_close(queue)?;
        }
        let path = PathBuf::from(format!("/dev/shm{name}"));
        let canary = new_secret(secrets, "dev-shm")?;
        if fs::write(&path, canary.reveal()).is_ok() {
            self.ipc.dev_shm = Some(path);
        }
        Ok(())
    }

    /// Messages that are not there any more.
    pub(super) fn messages_taken(&self) -> u64 {
        let mut taken = 0;
        if let Some(msg) = &self.ipc.msg {
            let left = (0..MESSAGES).take_while(|_| sys::msg_take(msg.id).is_ok()).count();
            taken += u64::from(MESSAGES) - left as u64;
        }
        let flags = MQ_OFlag::O_RDONLY | MQ_OFlag::O_NONBLOCK;
        let queue = self.ipc.mq.as_deref().and_then(|name| mq_open(name, flags, Mode::empty(), None).ok());
        if let Some(queue) = queue {
            let mut buffer = [0; sys::SIZE];
            let left = (0..MESSAGES).take_while(|_| mq_receive(&queue, &mut buffer, &mut 0).is_ok()).count();
            taken += u64::from(MESSAGES) - left as u64;
        }
        taken
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let ids = |object: &Option<SysV>| object.as_ref().map(|object| object.id);
        let _ = ids(&self.ipc.shm).map(sys::shm_remove);
        let _ = ids(&self.ipc.msg).map(sys::msg_remove);
        let _ = ids(&self.ipc.sem).map(sys::sem_remove);
        let _ = self.ipc.mq.as_deref().map(mq_unlink);
        let _ = self.ipc.dev_shm.as_ref().map(fs::remove_file);
        for key in &self.keys {
            let _ = sys::invalidate_key(key.serial);
        }
    }
}

fn plant_key(ring: sys::Ring, name: &str, secrets: &mut Secrets) -> io::Result<Key> {
    let description = format!("skillsandbox-probe-{name}-{}", random_hex(8)?);
    let c_description = CString::new(description.clone()).map_err(io::Error::other)?;
    let canary = Canary::random()?;
    let serial = sys::add_key(&c_description, canary.reveal().as_bytes(), sys::ring_id(ring)?)?;
    sys::open_key_to_user(serial)?;
    secrets.insert(format!("key {name}"), canary.sha256());
    Ok(Key { ring: name.into(), serial, description })
}

fn padded(canary: &Canary) -> [u8; sys::SIZE] {
    let mut bytes = [0; sys::SIZE];
    for (slot, byte) in bytes.iter_mut().zip(canary.reveal().bytes()) {
        *slot = byte;
    }
    bytes
}

/// A random positive number.
fn random_key() -> io::Result<i32> {
    let number = u32::from_str_radix(&random_hex(4)?, 16).map_err(io::Error::other)?;
    i32::try_from((number >> 2) | 1).map_err(io::Error::other)
}
