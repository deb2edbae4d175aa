// SPDX-License-Identifier: Apache-2.0
/**
 * The process of the agent in the guest, with the virtio-serial port as its standard input and output
 * (guest/rootfs/usr/sbin/lab-agent). It ends when the host closes its side. Usage: `node agent.mjs <port >port`
 */
import { readFileSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { encodeLine, type Report } from "./protocol.ts";
import { serve } from "./agent.ts";

/** The port accepts at most 32 KiB per write (virtio_console.c, port_fops_write), and blocks until the host has read them. */
function send(report: Report): void {
  const bytes = Buffer.from(encodeLine(report));
  for (let written = 0; written < bytes.length;) written += writeSync(1, bytes, written);
}

// lab-init writes to this named pipe at the end of a fast boot. systemd starts the agent at the right time by itself.
if (process.env.LAB_READY !== undefined) await readFile(process.env.LAB_READY);

writeSync(1, "\n"); // ends a line that a reset may have cut off
send({ type: "hello", bootId: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() });
await serve(process.stdin, send);
