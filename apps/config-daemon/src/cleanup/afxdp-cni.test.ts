// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel } from "@switchyard/host/testing";
import { afxdpCni } from "./owned-parts.ts";

describe("afxdpCni", () => {
  it("is the link that Switchyard installs, and the file that it leads to", async () => {
    const kernel = createFakeKernel({ nics: [] });
    kernel.writeFile("/opt/cni/bin/.afxdp.switchyard", "program");
    kernel.writeFile("/opt/cni/bin/host-device", "program");
    kernel.linkFile("/opt/cni/bin/afxdp", ".afxdp.switchyard");
    expect(await afxdpCni.find(kernel.host())).toEqual([
      "remove /opt/cni/bin/afxdp",
      "remove /opt/cni/bin/.afxdp.switchyard",
    ]);
    await afxdpCni.remove(kernel.host());
    expect(await afxdpCni.find(kernel.host())).toEqual([]);
    expect(kernel.listFiles()).toEqual(["/opt/cni/bin/host-device"]);
  });

  it("is no plugin that somebody else installed", async () => {
    const kernel = createFakeKernel({ nics: [] });
    kernel.writeFile("/opt/cni/bin/afxdp", "program");
    kernel.linkFile("/var/lib/cni/bin/afxdp", "/usr/libexec/afxdp");
    kernel.writeFile("/var/lib/cni/bin/.afxdp.switchyard", "program");
    expect(await afxdpCni.find(kernel.host())).toEqual(["remove /var/lib/cni/bin/.afxdp.switchyard"]);
    await afxdpCni.remove(kernel.host());
    expect(kernel.listFiles()).toEqual(["/opt/cni/bin/afxdp", "/var/lib/cni/bin/afxdp"]);
  });
});
