// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { parsePciAddress } from "@switchyard/api";
import { createFakeKernel } from "@switchyard/host/testing";
import { claimSpecFile, renderClaimSpec } from "@switchyard/render";
import { readVfClaims } from "./vf-claims.ts";

const [vf0, vf1] = ["0000:01:10.0", "0000:01:10.2"].map((text) => {
  const parsed = parsePciAddress(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}) as [never, never];
const claim = { namespace: "default", name: "nics", uid: "u1" };
const path = `/run/cdi/${claimSpecFile("u1") ?? ""}`;

it("finds the claim of each VF in the records of the DRA driver, and leaves out VFs that a claim only observes", async () => {
  const kernel = createFakeKernel({ nics: [] });
  const host = kernel.host();
  const devices = [
    { pciAddress: vf0, request: "nic", isAdmin: false, driver: "vfio-pci" },
    { pciAddress: vf1, request: "watch", isAdmin: true },
  ];
  await host.files.writeText(path, renderClaimSpec({ ...claim, devices, edits: [] }));
  await host.files.writeText("/run/cdi/nvidia.com-gpu.json", "{}");
  await host.files.writeText(`/run/cdi/${claimSpecFile("u2") ?? ""}`, "{");
  expect(await readVfClaims(host.files)).toEqual(new Map([[vf0, { ...claim, driver: "vfio-pci" }]]));
});

it("keeps the VFs of a claim whose file is damaged", async () => {
  const { files } = createFakeKernel({ nics: [] }).host();
  const gone = { ...claim, uid: "u2" };
  const known = new Map([
    [String(vf0), claim],
    [String(vf1), gone],
  ]);
  await files.writeText(path, '{"cdiVersion":');
  expect(await readVfClaims(files, known)).toEqual(new Map([[vf0, claim]]));
  await files.remove(path);
  expect(await readVfClaims(files, known)).toEqual(new Map());
});

it("does not know the claims if the files cannot be read", async () => {
  const kernel = createFakeKernel({ nics: [] });
  const host = kernel.host();
  kernel.fault({ port: "files", method: "listNames" }, { code: "EIO" });
  expect(await readVfClaims(host.files)).toBeUndefined();
});
