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
import { silentLogger } from "@switchyard/service/testing";
import { findUpstreamLeftovers, removeUpstreamLeftovers } from "./upstream-leftovers.ts";

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
  await removeUpstreamLeftovers(kernel.host().files, silentLogger);
  return kernel.listFiles();
}

describe("the files of the Go operator's systemd mode", () => {
  it("are removed completely", async () => {
    expect(await clean(hostWith(upstreamSystemdMode(), upstreamUnitLinks))).toEqual([]);
  });

  it("are removed by the next call if a call fails at any file", async () => {
    const total = upstreamSystemdMode().length + upstreamUnitLinks.length;
    for (let nth = 1; nth <= total; nth++) {
      const kernel = hostWith(upstreamSystemdMode(), upstreamUnitLinks);
      const fault = kernel.fault({ port: "files", method: "remove", nth }, { code: "EROFS" });
      await expect(clean(kernel)).rejects.toMatchObject({ code: "EROFS" });
      fault.lift();
      expect([nth, await clean(kernel)]).toEqual([nth, []]);
    }
  });

  it("are removed except for units that OpenShift wrote", async () => {
    const kernel = hostWith(upstreamSystemdMode({ isOpenshift: true }), upstreamUnitLinks);
    expect(await clean(kernel)).toEqual([
      `${units}/multi-user.target.wants/sriov-config-post-network.service`,
      `${units}/multi-user.target.wants/sriov-config.service`,
      `${units}/sriov-config-post-network.service`,
      `${units}/sriov-config.service`,
    ]);
  });

  it("include an empty file, which the Go operator created and was killed before it wrote", async () => {
    expect(await clean(hostWith([[`${own}/sriov-interface-config.yaml`, ""]]))).toEqual([]);
  });

  it("cause no write if the host has none of them", async () => {
    const kernel = hostWith([
      [`${own}/managed-ovs-bridges.json`, "{}"],
      ["/etc/udev/rules.d/70-mine.rules", "x"],
    ]);
    await clean(kernel);
    expect(kernel.writes).toEqual([]);
  });

  it.each([
    { what: "a unit that starts another program", path: `${units}/sriov-config.service`, text: "ExecStart=/bin/vfs\n" },
    { what: "notes of an administrator", path: `${own}/sriov-interface-config.yaml`, text: "our NICs, see the wiki\n" },
    { what: "another YAML", path: `${own}/sriov-interface-result.yaml`, text: "nics: 2\n" },
    { what: "a list of something else", path: `${own}/sriov-supported-nics-ids.yaml`, text: "8086 158b\n" },
    { what: "a file too large to be read", path: `${own}/sriov-interface-config.yaml`, text: "#".repeat(1 << 21) },
    { what: "a program that no unit of the Go operator starts", path: program, text: "\u007fELF" },
  ])("do not include $what", async ({ path, text }) => {
    expect(await clean(hostWith([[path, text]]))).toEqual([path]);
  });

  it("do not include a link in place of a file", async () => {
    const path = `${own}/sriov-interface-config.yaml`;
    const kernel = hostWith([], [[path, "/etc/shadow"]]);
    expect(await findUpstreamLeftovers(kernel.host().files)).toEqual({ paths: [], foreign: [path] });
  });
});

describe("the helper scripts of the Go operator", () => {
  const pf = pci("0000:01:00.0");

  it("are removed if no rule calls them", async () => {
    expect(await clean(hostWith(upstreamHelpers))).toEqual([]);
  });

  it("stay as long as a rule calls them", async () => {
    const rules = upstreamRules(pf, "ens1f0");
    expect(await clean(hostWith([...upstreamHelpers, ...rules]))).toEqual([
      "/etc/udev/disable-nm-sriov.sh",
      "/etc/udev/rules.d/10-nm-disable-0000:01:00.0.rules",
    ]);
  });

  it("stay if a rule cannot be read, because it may call them", async () => {
    const [helper = ["", ""]] = upstreamHelpers;
    const large: FileText = ["/usr/lib/udev/rules.d/99-large.rules", "#".repeat(1 << 21)];
    expect(await clean(hostWith([helper, large]))).toContain(helper[0]);
  });

  it("are removed if the only rule is masked by a link to /dev/null", async () => {
    const [helper = ["", ""]] = upstreamHelpers;
    const kernel = hostWith([helper], [["/etc/udev/rules.d/80-net.rules", "/dev/null"]]);
    expect(await clean(kernel)).toEqual(["/etc/udev/rules.d/80-net.rules"]);
  });

  it("do not include other scripts under their names", async () => {
    const path = "/etc/udev/disable-nm-sriov.sh";
    expect(await clean(hostWith([[path, "#!/bin/bash\necho mine\n"]]))).toEqual([path]);
  });
});
