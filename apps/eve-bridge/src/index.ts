// SPDX-License-Identifier: Apache-2.0
/** The public part of eve-bridge: its doctor, which the `switchyard` command line runs. */
export { formatReport, runDoctor, type DoctorReport, type CheckResult } from "./tool/doctor.ts";
