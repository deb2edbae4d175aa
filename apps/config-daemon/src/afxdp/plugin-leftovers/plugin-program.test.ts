// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AttachedProgram, UpstreamDevice, XdpUse } from "@switchyard/host";
import { pluginProgram } from "./plugin-program.ts";

const record: UpstreamDevice = { device: "0000:01:00.0", bootId: "now", names: ["eth0"], pools: ["fast"] };
const none = { kind: "none" };
const program = (name: string, change: Partial<AttachedProgram> = {}): AttachedProgram => {
  return { id: 7, mode: "native", isOwn: false, components: [], ...(name !== "" && { name }), ...change };
};
const dispatcher = (...components: readonly string[]) => program("xdp_dispatcher", { components });

function judge(programs: readonly AttachedProgram[], sockets: XdpUse["sockets"] = 0, given = record) {
  return pluginProgram({ programs, sockets }, given, "now");
}

describe("pluginProgram", () => {
  it.each([
    { what: "libxdp's program for sockets", one: program("xsk_def_prog"), name: "xsk_def_prog" },
    { what: "it in generic mode", one: program("xsk_def_prog", { mode: "generic" }), name: "xsk_def_prog" },
    { what: "the program for pinned maps", one: program("xdp_afxdp_redir"), name: "xdp_afxdp_redir" },
    { what: "one alone in a dispatcher", one: dispatcher("xsk_def_prog"), name: "xsk_def_prog" },
    { what: "the other alone in a dispatcher", one: dispatcher("xdp_afxdp_redir"), name: "xdp_afxdp_redir" },
  ])("is $what", ({ one, name }) => {
    expect(judge([one])).toEqual({ kind: "left", id: 7, name });
  });

  it.each([
    { what: "no program", programs: [] },
    { what: "a program of Switchyard", programs: [program("switchyard_xsk", { isOwn: true })] },
    { what: "another program", programs: [program("xdp_filter")] },
    { what: "a program without a name", programs: [program("")] },
    { what: "a name that only begins like it", programs: [program("xsk_def_prog2")] },
    { what: "a program on the card", programs: [program("xsk_def_prog", { mode: "offloaded" })] },
    { what: "a dispatcher of bpfman", programs: [dispatcher("xsk_redirect")] },
    { what: "a dispatcher of others", programs: [dispatcher("xdp_filter", "xdp_pass")] },
  ])("is not $what", ({ programs }) => {
    expect(judge(programs)).toEqual(none);
  });

  it("is not a program that the device had before the plugin, nor one of another boot", () => {
    const programs = [program("xsk_def_prog")];
    expect(judge(programs, 0, { ...record, programBefore: 7 })).toEqual(none);
    expect(judge(programs, 0, { ...record, programBefore: 6 })).toMatchObject({ kind: "left" });
    expect(judge(programs, 0, { ...record, bootId: "before" })).toEqual(none);
  });

  it.each([
    {
      what: "has an AF_XDP socket",
      programs: [program("xsk_def_prog")],
      sockets: 2,
      name: "xsk_def_prog",
      why: "AF_XDP sockets of the host use the interface (2)",
    },
    {
      what: "may have AF_XDP sockets",
      programs: [dispatcher("xsk_def_prog")],
      name: "xsk_def_prog",
      sockets: { unknown: "no module" },
      why: "the kernel does not say whether AF_XDP sockets of the host use the interface: no module",
    },
    {
      what: "runs beside another",
      programs: [dispatcher("xsk_def_prog", "xdp_filter", "")],
      sockets: 0,
      name: "xsk_def_prog",
      why: "its dispatcher also runs other programs (xdp_filter, one without a name)",
    },
    {
      what: "is there twice",
      programs: [dispatcher("xsk_def_prog", "xsk_def_prog")],
      sockets: 0,
      name: "xsk_def_prog",
      why: "its dispatcher also runs other programs (xsk_def_prog)",
    },
    {
      what: "is a dispatcher without programs",
      programs: [dispatcher()],
      sockets: 0,
      name: "xdp_dispatcher",
      why: "it does not show which program it runs",
    },
  ])("is uncertain if it $what", ({ programs, sockets, name, why }) => {
    expect(judge(programs, sockets)).toEqual({ kind: "uncertain", name, why });
  });
});
