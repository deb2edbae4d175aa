// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  createFakeKernel,
  igb,
  pci,
  upstreamHelpers,
  upstreamRules,
  upstreamSystemdMode,
  upstreamUnitLinks,
  type FakeKernel,
  type FileText,
} from "@switchyard/host/testing";
import type { Logger } from "@switchyard/service";
import { findUpstreamLeftovers, removeUpstreamLeftovers } from "./upstream-leftovers.ts";

const silent: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  child: () => silent,
};

const units = "/etc/systemd/system";
const own = "/etc/sriov-operator";
const program = "/var/lib/sriov/sriov-network-config-daemon";

function hostWith(files: readonly FileText[], links: readonly FileText[] = []): FakeKernel {
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
  for (const [path, text] of files) kernel.writeFile(path, text);
  for (const [path, target] of links) kernel.linkFile(path, target);
  return kernel;
}

async function clean(kernel: FakeKernel): Promise<readonly string[]> {
  await removeUpstreamLeftovers(kernel.host().files, silent);
  return kernel.listFiles();
}

describe("what upstream's systemd mode left", () => {
  it("goes, whole, so that nothing configures NICs at the next boot", async () => {
    expect(await clean(hostWith(upstreamSystemdMode(), upstreamUnitLinks))).toEqual([]);
  });

  it("goes, too, where the daemon is killed in the middle, whenever that is", async () => {
    const total = upstreamSystemdMode().length + upstreamUnitLinks.length;
    for (let nth = 1; nth <= total; nth++) {
      const kernel = hostWith(upstreamSystemdMode(), upstreamUnitLinks);
      const fault = kernel.fault({ port: "files", method: "remove", nth }, { code: "EROFS" });
      await clean(kernel);
      fault.lift();
      expect([nth, await clean(kernel)]).toEqual([nth, []]);
    }
  });

  it("leaves units that OpenShift put there to OpenShift, without anything to start or read", async () => {
    const kernel = hostWith(upstreamSystemdMode({ isOpenshift: true }), upstreamUnitLinks);
    expect(await clean(kernel)).toEqual([
      `${units}/multi-user.target.wants/sriov-config-post-network.service`,
      `${units}/multi-user.target.wants/sriov-config.service`,
      `${units}/sriov-config-post-network.service`,
      `${units}/sriov-config.service`,
    ]);
  });

  it("goes where upstream created a file and was killed before it wrote", async () => {
    expect(await clean(hostWith([[`${own}/sriov-interface-config.yaml`, ""]]))).toEqual([]);
  });

  it("costs a host without it no write", async () => {
    const kernel = hostWith([
      [`${own}/managed-ovs-bridges.json`, "{}"],
      ["/etc/udev/rules.d/70-mine.rules", "x"],
    ]);
    await clean(kernel);
    expect(kernel.writes).toEqual([]);
  });

  it.each([
    { what: "a unit that starts another program", path: `${units}/sriov-config.service`, text: "ExecStart=/bin/vfs\n" },
    { what: "somebody's notes", path: `${own}/sriov-interface-config.yaml`, text: "our NICs, see the wiki\n" },
    { what: "another YAML", path: `${own}/sriov-interface-result.yaml`, text: "nics: 2\n" },
    { what: "a list of something else", path: `${own}/sriov-supported-nics-ids.yaml`, text: "8086 158b\n" },
    { what: "a file too large to be read", path: `${own}/sriov-interface-config.yaml`, text: "#".repeat(1 << 21) },
    { what: "a program that no unit of upstream's starts", path: program, text: "\u007fELF" },
  ])("is not $what", async ({ path, text }) => {
    expect(await clean(hostWith([[path, text]]))).toEqual([path]);
  });

  it("is not a link in the place of a file", async () => {
    const path = `${own}/sriov-interface-config.yaml`;
    const kernel = hostWith([], [[path, "/etc/shadow"]]);
    expect(await findUpstreamLeftovers(kernel.host().files)).toEqual({ paths: [], foreign: [path] });
  });
});

describe("upstream's helper scripts", () => {
  const pf = pci("0000:01:00.0");

  it("go where no rule calls them", async () => {
    expect(await clean(hostWith(upstreamHelpers))).toEqual([]);
  });

  it("stay while a rule calls them, each by itself", async () => {
    const rules = upstreamRules(pf, "ens1f0");
    expect(await clean(hostWith([...upstreamHelpers, ...rules]))).toEqual([
      "/etc/udev/disable-nm-sriov.sh",
      "/etc/udev/rules.d/10-nm-disable-0000:01:00.0.rules",
    ]);
  });

  it("stay where a rule cannot be read: it may call them", async () => {
    const [helper = ["", ""]] = upstreamHelpers;
    const large: FileText = ["/usr/lib/udev/rules.d/99-large.rules", "#".repeat(1 << 21)];
    expect(await clean(hostWith([helper, large]))).toContain(helper[0]);
  });

  it("go beside a rule that is switched off by a link to /dev/null", async () => {
    const [helper = ["", ""]] = upstreamHelpers;
    const kernel = hostWith([helper], [["/etc/udev/rules.d/80-net.rules", "/dev/null"]]);
    expect(await clean(kernel)).toEqual(["/etc/udev/rules.d/80-net.rules"]);
  });

  it("are not scripts of somebody else under their names", async () => {
    const path = "/etc/udev/disable-nm-sriov.sh";
    expect(await clean(hostWith([[path, "#!/bin/bash\necho mine\n"]]))).toEqual([path]);
  });
});
