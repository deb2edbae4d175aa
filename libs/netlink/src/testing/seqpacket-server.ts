// SPDX-License-Identifier: Apache-2.0
/**
 * openSeqpacketServer opens a Unix socket of type SOCK_SEQPACKET on the real kernel. Like udevd, it asks for the ids of the
 * sender only on accepted connections.
 */
import koffi from "koffi";
import { checked } from "../netlink-error.ts";
import { loadLibc } from "../libc.ts";

/** A message and the user id of its sender; no id if the kernel sent none. */
export interface SeqpacketMessage {
  readonly text: string;
  readonly uid: number | undefined;
}

export interface SeqpacketServer extends Disposable {
  /** Accepts a connection that is already there, and returns its descriptor. */
  accept(): number;
  /** Sets SO_PASSCRED. */
  askForIds(fd: number): void;
  /** Returns the next message without waiting. Throws NetlinkError EAGAIN if there is none. */
  receive(fd: number): SeqpacketMessage;
  close(fd: number): void;
}

const [afUnix, sockSeqpacket] = [1, 5];
const [solSocket, soPassCredentials] = [1, 16];
const msgDontwait = 0x40;

export function openSeqpacketServer(path: string): SeqpacketServer {
  const libc = loadLibc();
  const library = koffi.load(null);
  const socket: (...args: number[]) => number = library.func("int socket(int, int, int)");
  const bind: (fd: number, address: Buffer, bytes: number) => number = library.func("int bind(int, void *, uint32_t)");
  const listen: (fd: number, backlog: number) => number = library.func("int listen(int, int)");
  const accept: (fd: number, address: null, bytes: null) => number = library.func("int accept(int, void *, void *)");
  const recvmsg: (fd: number, header: Buffer, flags: number) => number = library.func(
    "intptr_t recvmsg(int, void *, int)",
  );
  const must = (what: string, result: number) => checked(what, result < 0 ? -koffi.errno() : result);

  const server = must("open socket", socket(afUnix, sockSeqpacket, 0));
  const open = new Set([server]);
  const address = Buffer.concat([Buffer.of(afUnix, 0), Buffer.from(`${path}\0`)]);
  must("bind socket", bind(server, address, address.length));
  must("listen", listen(server, 8));

  function close(fd: number): void {
    open.delete(fd);
    libc.close(fd);
  }

  return {
    accept() {
      const fd = must("accept connection", accept(server, null, null));
      open.add(fd);
      return fd;
    },
    askForIds(fd) {
      must("set SO_PASSCRED", libc.setsockopt(fd, solSocket, soPassCredentials, 1));
    },
    receive(fd) {
      const data = Buffer.alloc(512);
      const control = Buffer.alloc(32);
      // struct iovec: address, length. struct msghdr: name, its length, iovec, count, control, its length, flags.
      const vector = Buffer.alloc(16);
      vector.writeBigUInt64LE(koffi.address(data), 0);
      vector.writeBigUInt64LE(BigInt(data.length), 8);
      const header = Buffer.alloc(56);
      header.writeBigUInt64LE(koffi.address(vector), 16);
      header.writeBigUInt64LE(1n, 24);
      header.writeBigUInt64LE(koffi.address(control), 32);
      header.writeBigUInt64LE(BigInt(control.length), 40);
      const length = must("receive message", recvmsg(fd, header, msgDontwait));
      // struct cmsghdr: u64 length, s32 level, s32 type (SCM_CREDENTIALS is 2); then struct ucred: pid, uid, gid.
      const hasIds = header.readBigUInt64LE(40) >= 28n && control.readInt32LE(12) === 2;
      return { text: data.toString("utf8", 0, length), uid: hasIds ? control.readUInt32LE(20) : undefined };
    },
    close,
    [Symbol.dispose]() {
      for (const fd of open) close(fd);
    },
  };
}
