// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { constants } from "node:os";
import { protocols } from "../libc.ts";
import { malformed } from "../netlink-error.ts";
import { createFakeKernel } from "../testing/fake-kernel.ts";
import { joinMulticast } from "./multicast.ts";

function listen(stop = new AbortController()) {
  const kernel = createFakeKernel();
  const told: string[] = [];
  const sink = {
    event: (event: string) => told.push(event),
    lost: () => told.push("(lost)"),
    failed: ({ message }: Error) => told.push(message),
  };
  joinMulticast({ protocol: protocols.kobjectUevent, groups: 1, decode, libc: kernel }, sink, stop.signal);
  return { kernel, told, stop };
}

function decode(datagram: Buffer): readonly string[] {
  if (datagram.length === 0) throw malformed("nothing");
  return datagram.toString().split(" ");
}

describe("joinMulticast", () => {
  it("passes all events of a datagram", () => {
    const { kernel, told } = listen();
    kernel.emit(protocols.kobjectUevent, Buffer.from("one two"));
    kernel.emit(protocols.kobjectUevent, Buffer.from("three"));
    expect(told).toEqual(["one", "two", "three"]);
  });

  it("ignores datagrams of other processes", () => {
    const { kernel, told } = listen();
    kernel.emit(protocols.kobjectUevent, Buffer.from("forged"), 4711);
    kernel.emit(protocols.kobjectUevent, Buffer.from("real"));
    expect(told).toEqual(["real"]);
  });

  it.each([
    { does: "the kernel drops some", datagram: -constants.errno.ENOBUFS },
    { does: "one is too long for the buffer", datagram: Buffer.alloc(0x10001, "x") },
    { does: "one is malformed", datagram: Buffer.alloc(0) },
  ])("reports lost events and continues when $does", ({ datagram }) => {
    const { kernel, told } = listen();
    kernel.emit(protocols.kobjectUevent, datagram);
    kernel.emit(protocols.kobjectUevent, Buffer.from("next"));
    expect(told).toEqual(["(lost)", "next"]);
  });

  it("fails and closes the socket on any other error", () => {
    const { kernel, told } = listen();
    kernel.emit(protocols.kobjectUevent, -constants.errno.ENOMEM);
    kernel.emit(protocols.kobjectUevent, Buffer.from("next"));
    expect(told).toEqual(["read netlink events: ENOMEM"]);
    expect(kernel.countOpen()).toBe(0);
  });

  it("stops when a listener aborts during an event", () => {
    const stop = new AbortController();
    const { kernel, told } = listen(stop);
    stop.signal.addEventListener("abort", () => told.push("(aborted)"));
    stop.abort();
    kernel.emit(protocols.kobjectUevent, Buffer.from("late"));
    expect(told).toEqual(["(aborted)"]);
    expect(kernel.countOpen()).toBe(0);
  });

  it("opens no socket if the signal has aborted before", () => {
    const stop = new AbortController();
    stop.abort();
    expect(listen(stop).kernel.countOpen()).toBe(0);
  });
});
