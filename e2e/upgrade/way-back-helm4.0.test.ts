// SPDX-License-Identifier: Apache-2.0
/** The way back to upstream's operator with Helm 4.0, which refuses a rollback. */
import { describeWayBack } from "./describe-way-back.ts";

const rollbackIsRefusedWith = /conflict with "switchyard-components"/;
describeWayBack({ installedBy: "helm4.0", version: "helm4.0", rollbackIsRefusedWith });
