// SPDX-License-Identifier: Apache-2.0
/**
 * The agent as the guest runs it, with the virtio-serial port as its standard input and output (guest/rootfs/usr/sbin/lab-agent).
 * Ends when the host has closed its side. Usage: `node agent.mjs <port >port`
 */
import { readFileSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { encodeLine, type Report } from "../protocol.ts";
import { serve } from "./agent.ts";

/** The port takes at most 32 KiB at once (virtio_console.c, port_fops_write) and makes its writer wait for the host. */
function send(report: Report): void {
  const bytes = Buffer.from(encodeLine(report));
  for (let written = 0; written < bytes.length;) written += writeSync(1, bytes, written);
}

// A named pipe, written to when the boot is done (guest/rootfs/usr/sbin/lab-init); systemd starts the agent in due time.
if (process.env.LAB_READY !== undefined) await readFile(process.env.LAB_READY);

writeSync(1, "\n"); // ends the line that a reset may have cut short
send({ type: "hello", bootId: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() });
await serve(process.stdin, send);
