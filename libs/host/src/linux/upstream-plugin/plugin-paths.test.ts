// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mountUnitName } from "../system/linux-systemd.ts";
import { parseMountInfo } from "./leftovers-on-linux.ts";
import { parsePluginMount, parsePluginSocket } from "./upstream-device-record.ts";

const id = "3f2b8a10-1111-4222-8333-0123456789ab";

describe("the paths of the plugin of upstream", () => {
  it("are recognised, with their pools", () => {
    expect(parsePluginMount(`/run/afxdp_dp/fast/${id}`)).toBe("fast");
    expect(parsePluginSocket(`/tmp/afxdp_dp/afxdp_fast/${id}.sock`)).toBe("fast");
  });

  it.each([
    `/run/afxdp_dp/${id}`,
    `/run/afxdp_dp/fast/${id}/`,
    `/run/afxdp_dp/fast/${id}/xsks_map`,
    `/run/afxdp_dp/../${id}`,
    `/run/afxdp_dp/fast/../${id}`,
    `/run/afxdp_dp/fa-st/${id}`,
    `/run/afxdp_dp/fast/${id.toUpperCase()}`,
    `/run/afxdp_dp/fast/${id}\n`,
    `/run/afxdp_dp/fast/x${id}`,
    `/host/run/afxdp_dp/fast/${id}`,
    "",
  ])("do not include %j", (path) => {
    expect(parsePluginMount(path)).toBeUndefined();
  });

  it.each([`/tmp/afxdp_dp/fast/${id}.sock`, `/tmp/afxdp_dp/afxdp_fast/${id}`, `/tmp/afxdp_dp/afxdp_../${id}.sock`])(
    "do not include %j",
    (path) => {
      expect(parsePluginSocket(path)).toBeUndefined();
    },
  );

  it("have the unit that systemd-escape(1) names", () => {
    const unit = "run-afxdp_dp-fast-3f2b8a10\\x2d1111\\x2d4222\\x2d8333\\x2d0123456789ab.mount";
    expect(mountUnitName(`/run/afxdp_dp/fast/${id}`)).toBe(unit);
    expect(mountUnitName("/a b/c.d:e-f")).toBe("a\\x20b-c.d:e\\x2df.mount");
  });
});

describe("parseMountInfo", () => {
  it("returns the type of each mount point, of several mounts the last, and leaves out other lines", () => {
    const text = [
      `36 35 0:33 / /run/afxdp_dp/fast/${id} rw,relatime shared:1 master:2 - bpf bpf rw`,
      "37 35 0:34 / /mnt/a\\040b rw - tmpfs tmpfs rw",
      "38 35 0:35 / /mnt/x rw - bpf bpf rw",
      "39 38 0:36 / /mnt/x rw - tmpfs tmpfs rw",
      ...["", "no mount", "40 35 0:37 / /mnt/y rw"],
    ].join("\n");
    expect([...parseMountInfo(text)]).toEqual([
      [`/run/afxdp_dp/fast/${id}`, "bpf"],
      ["/mnt/a\\040b", "tmpfs"],
      ["/mnt/x", "tmpfs"],
    ]);
  });
});
