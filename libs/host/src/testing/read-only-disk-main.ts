// SPDX-License-Identifier: Apache-2.0
/**
 * Makes changes on a disk that accepts none, and prints the errors, one line each. The test starts it in a mount namespace of its own.
 * Arguments: the root of the disk.
 */
import { createLinuxHostFiles } from "../linux/system/linux-host-files.ts";
import { createLinuxPfRecords } from "../linux/records/linux-records.ts";
import { acquireNodeLock } from "../linux/system/node-lock.ts";
import { pci } from "./nic-models.ts";

const [, , root = ""] = process.argv;
const files = createLinuxHostFiles(root);
const records = createLinuxPfRecords(root, { onUnreadable: () => undefined });
const address = pci("0000:01:00.0");

/** Prints why the change fails. */
async function print(change: () => Promise<unknown>): Promise<void> {
  await change().then(
    () => {
      console.log("done");
    },
    (error: unknown) => {
      console.log(error instanceof Error ? error.message : String(error));
    },
  );
}

await print(() => files.writeText("/etc/modprobe.d/new/x.conf", "x".repeat(100_000)));
await print(() => records.save(address, { spec: { pciAddress: address }, names: ["x".repeat(100_000)] }));
await print(() => records.remove(address));
const stop = new AbortController();
await print(() =>
  acquireNodeLock(root, {
    holder: {},
    now: () => new Date(),
    signal: stop.signal,
    onWaiting(reason) {
      console.log(reason);
      stop.abort(new Error("stopped"));
    },
  }),
);
process.exit(0);
