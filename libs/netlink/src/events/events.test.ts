// SPDX-License-Identifier: Apache-2.0
/** These tests use the kernel of this machine, in a separate network namespace. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadLibc, type Libc } from "../libc.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { EventQueue } from "./event-queue.ts";
import type { EventSink, ListenOptions } from "./multicast.ts";
import { watchLinks, watchUevents, type LinkEvent, type Uevent } from "./kernel-events.ts";

type Watch<Event> = (sink: EventSink<Event>, signal: AbortSignal, options: ListenOptions) => void;

const missing = missingForNamespaces();
const linkLine = ({ link, removed }: LinkEvent) => `${removed ? "-" : "+"}${link.name}`;
const ueventLine = ({ action, subsystem, devpath }: Uevent) => `${action} ${subsystem} ${devpath}`;

(missing === undefined ? describe : describe.skip)("events of the real kernel", () => {
  let namespace: NetworkNamespace;
  let stop: AbortController;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
  });
  beforeEach(() => {
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort(); // a failed test would keep the process alive
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
  });

  /** Yields the events as lines of text. */
  function lines<Event>(watch: Watch<Event>, lineOf: (event: Event) => string, libc?: Libc): EventQueue<string> {
    const queue = new EventQueue<string>({ signal: stop.signal, keyOf: (line) => line, overrun: "lost" });
    const sink: EventSink<Event> = {
      event: (event) => {
        queue.push(lineOf(event));
      },
      lost: () => {
        queue.push("lost");
      },
      failed: (error) => {
        queue.fail(error);
      },
    };
    watch(sink, queue.closed, { netns: namespace.path, libc });
    return queue;
  }

  async function until(wanted: string, queue: EventQueue<string>): Promise<readonly string[]> {
    const seen: string[] = [];
    for await (const line of queue) {
      seen.push(line);
      if (line === wanted) break;
    }
    return seen;
  }

  it("reports interfaces that are added, changed and removed", async () => {
    const queue = lines(watchLinks, linkLine);
    await namespace.run("ip", "link", "add", "e0", "type", "veth", "peer", "name", "e1");
    await namespace.run("ip", "link", "set", "e0", "name", "e2");
    await namespace.run("ip", "link", "del", "e2");
    expect(await until("-e2", queue)).toEqual(expect.arrayContaining(["+e0", "+e2"]));
  });

  it("reports devices by uevents", async () => {
    const queue = lines(watchUevents, ueventLine);
    await namespace.run("ip", "link", "add", "u0", "type", "veth", "peer", "name", "u1");
    await namespace.run("sh", "-c", "echo change > /sys/class/net/u0/uevent");
    expect(await until("change net /devices/virtual/net/u0", queue)).toContain("add net /devices/virtual/net/u0");
  });

  it("reports lost events and continues", async () => {
    const libc = loadLibc();
    const smallest: Libc = { ...libc, setsockopt: (fd, level, option) => libc.setsockopt(fd, level, option, 1) };
    const queue = lines(watchLinks, linkLine, smallest);
    await namespace.run("sh", "-c", "ip link add l0 type veth peer name l1; ip link property add dev l0 altname lost");
    // This process is blocked here and reads nothing, and the socket holds only one event.
    const rename = (count: number) => `ip link set dev lost name l${count}`;
    const renames = Array.from({ length: 20 }, (_, i) => rename(10 + i)).join(";");
    execFileSync("nsenter", [`--net=${namespace.path}`, "sh", "-c", renames]);

    let count = 100;
    for await (const line of queue) {
      if (line === `+l${count}`) break;
      if (line === "lost") await namespace.run("sh", "-c", rename(++count)); // can be lost, too, and is then repeated
    }
    expect(count).toBeGreaterThan(100);
  });

  it("closes its socket at once when the signal aborts", () => {
    const countOpen = () => readdirSync("/proc/self/fd").length;
    const before = countOpen();
    const sink = { event: () => undefined, lost: () => undefined, failed: () => undefined };
    watchLinks(sink, stop.signal, { netns: namespace.path });
    expect(countOpen()).toBeGreaterThan(before);
    stop.abort();
    expect(countOpen()).toBe(before);
  });

  it("occupies no thread while it waits and does not prevent the exit of the process", () => {
    const script = `
      const { watchLinks, watchUevents } = await import(process.argv[1]);
      const sink = { event() {}, lost() {}, failed() {} };
      const { signal } = new AbortController();
      watchLinks(sink, signal);
      watchUevents(sink, signal);
      const { readFile } = await import("node:fs/promises");
      await readFile("/proc/self/stat"); // needs the only thread of the pool
      process.exit(7);
    `;
    const flags = ["--input-type=module", "--eval", script, join(__dirname, "../index.ts")];
    const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
    expect(spawnSync(process.execPath, flags, { env, timeout: 30_000 }).status).toBe(7);
  });
});
