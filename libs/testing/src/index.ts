// SPDX-License-Identifier: Apache-2.0
export { isWrite, type AuditEvent, type AuditTail } from "./control-plane/audit-log.ts";
export type { BinaryName } from "./programs/binary-cache.ts";
export { bpfmanCrds, bpfmanTypes, type BpfmanVersion } from "./bpfman-crds.ts";
export { createAuthority, type Authority, type KeyPair, type UserIdentity } from "./control-plane/certificates.ts";
export { ControlPlane, type ControlPlaneOptions } from "./control-plane/control-plane.ts";
export type { Client } from "./control-plane/control-plane-files.ts";
export {
  debianPackages,
  ensurePrograms,
  type EnsureProgramsOptions,
  type ProgramName,
} from "./programs/debian-programs.ts";
export { binariesFor, ensureBinaries, type EnsureBinariesOptions } from "./programs/ensure-binaries.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
export { withFileLock, type FileLockOptions } from "./programs/file-lock.ts";
export { findFreePorts } from "./free-ports.ts";
export { downloadGoModule } from "./programs/go-build.ts";
export { spawnGuarded, type GuardedProcess } from "./guarded-process.ts";
export { lendControlPlanes } from "./control-plane/lender.ts";
export type { KubectlOptions } from "./control-plane/kubectl.ts";
export { type OpenVswitchPrograms } from "./open-vswitch/ensure-open-vswitch.ts";
export { startOpenVswitch, type OpenVswitch, type OpenVswitchOptions } from "./open-vswitch/open-vswitch.ts";
export { fleetObjects, type FleetOptions } from "./fleet-objects.ts";
export { missingForPods, podCommand, type PodAccount } from "./control-plane/pod-process.ts";
export { createProgress, writeToStderr, type Progress, type WriteLine } from "./progress.ts";
export { outputOf, runProgram, type ProgramEnd, type ProgramOptions } from "./programs/run-program.ts";
export { startControlPlane } from "./control-plane/start-control-plane.ts";
export { renderTable } from "./table.ts";
export { TestingError, type TestingErrorCode } from "./testing-error.ts";
export { findWorkspaceRoot } from "./workspace-root.ts";
