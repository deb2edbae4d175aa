// SPDX-License-Identifier: Apache-2.0
export { bootGuest, type BootOptions } from "./guest/boot-guest.ts";
export { bundleForGuest } from "./guest/bundle-for-guest.ts";
export type { ExecOptions, ExecResult, Guest } from "./guest/guest.ts";
export { ensureLabPackages } from "./image/lab.ts";
export type { Command, GuestProcess } from "./guest/guest-process.ts";
export type { MachineOptions } from "./qemu/machine-options.ts";
export type { HostForward } from "./qemu/qemu-arguments.ts";
export { VmLabError, type VmLabErrorCode } from "./vm-lab-error.ts";
