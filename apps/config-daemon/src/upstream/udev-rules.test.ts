// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel, igb, pci, upstreamHelpers, upstreamRules, type FileText } from "@switchyard/host/testing";
import { removeUdevRules } from "./udev-rules.ts";

const [pf, other] = [pci("0000:01:00.0"), pci("0000:01:00.1")];
const rules = "/etc/udev/rules.d";

async function release(...files: readonly FileText[]): Promise<readonly string[]> {
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
  for (const [path, text] of files) kernel.writeFile(path, text);
  await removeUdevRules(kernel.host().files, pf);
  return kernel.listFiles();
}

describe("the Go operator's udev rules of a released PF", () => {
  it("are removed with the scripts that only they call", async () => {
    expect(await release(...upstreamRules(pf, "ens1f0", "switchdev"), ...upstreamHelpers)).toEqual([]);
  });

  it("are removed without the rules of other PFs and their scripts", async () => {
    const files = [...upstreamRules(pf, "ens1f0", "switchdev"), ...upstreamRules(other, "ens1f1"), ...upstreamHelpers];
    expect(await release(...files)).toEqual([
      "/etc/udev/disable-nm-sriov.sh",
      `${rules}/10-nm-disable-0000:01:00.1.rules`,
    ]);
  });

  const [[, disable] = ["", ""], [, name] = ["", ""], [, representors] = ["", ""]] = upstreamRules(
    pf,
    "a",
    "switchdev",
  );

  it.each([
    { what: "have another rule beside upstream's", file: "10-nm-disable", text: `${disable}\nSUBSYSTEM=="net"` },
    { what: "have one more assignment", file: "10-nm-disable", text: `${disable}, ENV{ID}="1"` },
    { what: "are for another PF", file: "10-nm-disable", text: disable.replace("01:00.0", "02:00.0") },
    { what: "call another program", file: "10-nm-disable", text: disable.replace("/etc/udev/", "/opt/") },
    { what: "match by MAC address", file: "10-pf-name", text: name.replace(/KERNELS=="[^"]*"/, 'ATTR{address}=="x"') },
    { what: "name representors otherwise", file: "20-switchdev", text: representors.replace("_$env", "-$env") },
    { what: "are empty", file: "10-pf-name", text: "" },
  ])("are not upstream's, and stay, where they $what", async ({ file, text }) => {
    const path = `${rules}/${file}-${pf}.rules`;
    expect(await release([path, text])).toEqual([path]);
  });
});
