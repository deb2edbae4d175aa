// SPDX-License-Identifier: Apache-2.0
export { bootGuest, type BootOptions } from "./boot-guest.ts";
export { bundleForGuest } from "./bundle-for-guest.ts";
export type { ExecOptions, ExecResult, Guest } from "./guest.ts";
export { ensureLabPackages } from "./lab.ts";
export type { Command, GuestProcess } from "./guest-process.ts";
export type { MachineOptions } from "./machine-options.ts";
export { createProgress, type Progress } from "./progress.ts";
export type { HostForward } from "./qemu-arguments.ts";
export { VmLabError, type VmLabErrorCode } from "./vm-lab-error.ts";
