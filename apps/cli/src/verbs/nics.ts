// SPDX-License-Identifier: Apache-2.0
/** `switchyard nics` lists the supported NICs. */
import { supportedNics } from "@switchyard/policy";
import { exitCodes } from "../exit-codes.ts";
import { printData } from "../output/print-data.ts";
import { table } from "../output/table.ts";
import type { RunVerb } from "../verb.ts";

export const nics: RunVerb = async ({ flags: { output = "text" }, terminal }) => {
  if (output === "text") {
    const rows = supportedNics.map(({ vendor, pf, vf, name }) => [vendor, pf, vf, name]);
    terminal.stdout.write(table([["VENDOR", "DEVICE", "VF DEVICE", "CARD"], ...rows]));
  } else {
    const entries = supportedNics.map(({ vendor, pf, vf, name }) => ({ vendor, deviceID: pf, vfDeviceID: vf, name }));
    printData(entries, output, terminal.stdout);
  }
  return Promise.resolve(exitCodes.done);
};
