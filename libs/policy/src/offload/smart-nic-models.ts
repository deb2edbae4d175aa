// SPDX-License-Identifier: Apache-2.0
/**
 * The SmartNICs that OVN can run on, by the PCI device ID of their PFs. Their vendor is 15b3 (NVIDIA).
 * Usage: `smartNicModels[pf.deviceID ?? ""]` is "bluefield-2" for a2d6.
 */

export type SmartNicModel = "bluefield-2" | "bluefield-3";

/** PCI device ID of a PF -> model. */
export const smartNicModels: Readonly<Record<string, SmartNicModel>> = { a2d6: "bluefield-2", a2dc: "bluefield-3" };
