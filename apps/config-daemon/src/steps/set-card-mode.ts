// SPDX-License-Identifier: Apache-2.0
import type { Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import { addressOf } from "./set-firmware.ts";

/** Changes the firmware settings that decide the mode of one port of a SmartNIC. */
export async function setCardMode({ port, values }: NodeStep<"set-card-mode">, host: Host): Promise<void> {
  await host.firmware.setValues(addressOf(port), values);
}
