// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";

/** The steps that failed, with their errors. */
export type StepFailures = Map<AfxdpStep, unknown>;
