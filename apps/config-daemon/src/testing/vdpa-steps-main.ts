// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the steps for vDPA devices on this machine, on a PCI function that is a vDPA management device in place of a VF.
 * Prints the devices after each step, one line of JSON each.
 * Usage: `node vdpa-steps-main.ts 0000:00:03.0 virtio vhost remove`; in the VM lab, as a bundle.
 */
import { parsePciAddress } from "@switchyard/api";
import { createLinuxHost } from "@switchyard/host";
import { createStepContext, type StepContext } from "../steps/step-context.ts";
import { addVdpaDevice, removeVdpaDevice } from "../steps/vdpa.ts";

const [, , text = "", ...words] = process.argv;
const address = parsePciAddress(text);
if (!address.ok) throw new Error(`${text} is not a PCI address`);
const pciAddress = address.value;

await using host = createLinuxHost("/", { onUnreadableRecord: () => undefined });
const timing = {
  stepDeadlineMs: 60_000,
  linkTimeoutMs: 10_000,
  udevTimeoutMs: 60_000,
  nowMs: () => performance.now(),
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
};
const context: StepContext = {
  ...createStepContext(host, pciAddress, { timing, signal: new AbortController().signal }),
  vfAddress: () => Promise.resolve(pciAddress),
};
for (const word of words) {
  const step = { pciAddress, vfId: 0 };
  if (word === "remove") await removeVdpaDevice({ ...step, kind: "remove-vdpa-device" }, context);
  else if (word === "virtio" || word === "vhost") {
    await host.modules.load(`${word}_vdpa`);
    await addVdpaDevice({ ...step, kind: "add-vdpa-device", to: word }, context);
  } else throw new Error(`unknown step ${word}`);
  console.log(JSON.stringify(await host.vdpa.listDevices()));
}
