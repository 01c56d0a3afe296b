// Made by generate.mjs of /openapi.json with all modules.
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Redirect to the console
         * @description Redirects browsers from the root path to the web console.
         */
        get: operations["console.first"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the caller's account
         * @description Returns the account of the caller, with its plan limits and balance. The account is created when its owner sends the first request.
         */
        get: operations["accounts.own"];
        put?: never;
        post?: never;
        /**
         * Delete the caller's account
         * @description Deletes the account with its agents, credentials, threads, runs and files, ends its sessions and revokes its API keys. All tokens issued so far are refused at once. The ledger is kept, without name and address. 403: the caller authenticated with an API key.
         */
        delete: operations["accounts.close_own"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an account
         * @description Returns any account. Requires an admin.
         */
        get: operations["accounts.show"];
        /**
         * Update an account
         * @description Changes the plan or the role of an account. At least one of the two is required. Requires an admin; changing the role requires a super admin.
         */
        put: operations["accounts.change"];
        post?: never;
        /**
         * Delete an account
         * @description Deletes any account, in the same way as `DELETE /account`. Requires an admin; deleting an account that has a role requires a super admin.
         */
        delete: operations["accounts.close"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Grant credits
         * @description Adds credits to the balance of an account. Requires an admin.
         */
        post: operations["accounts.grant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List ledger entries
         * @description Lists the credit movements of an account, newest first. Requires an admin.
         */
        get: operations["accounts.ledger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke credits
         * @description Removes credits from the balance of an account. The balance cannot become negative. Requires an admin.
         */
        post: operations["accounts.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit log entries
         * @description Lists actions of admins and changes of API keys, newest first. Requires an admin.
         */
        get: operations["accounts.audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a payment event
         * @description Publishes an event about an account, for use by a billing system. The owner of the account is notified. `payment.succeeded` requires `account_id`, `amount`, `currency` and `plan_name` in `payload`; `payment.failed` requires `reason` instead of `plan_name`. A request with the same `kind` and `key` as an earlier one publishes nothing; with a different payload it returns 409 `IDEMPOTENCY_KEY_REUSED`. Keys are remembered for 90 days. Requires an admin.
         */
        post: operations["accounts.publish_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs
         * @description Lists the jobs in one state, newest first. Requires an admin.
         */
        get: operations["host.list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Discard a dead-lettered job
         * @description Removes a job whose attempts all failed, without executing it. The removal is recorded in the audit log. Requires an admin. 404: no dead-lettered job has this id.
         */
        post: operations["host.discard_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a dead-lettered job
         * @description Returns a job whose attempts all failed to its queue, with its full number of attempts. It runs as soon as a node is free. The retry is recorded in the audit log. Requires an admin. 404: no dead-lettered job has this id. 409: an identical job is already queued or running.
         */
        post: operations["host.retry_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List e-mails
         * @description Lists e-mails whose delivery has ended, newest first, without subjects and bodies. Requires an admin.
         */
        get: operations["mail.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/{id}/requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry an e-mail
         * @description Queues a `dead` or `refused` e-mail again. If its address is suppressed because of a bounce, the suppression is lifted. Requires an admin. 404: there is no such `dead` or `refused` e-mail.
         */
        post: operations["mail.requeue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suppressed addresses
         * @description Lists the addresses that get no e-mail, newest first. Requires an admin.
         */
        get: operations["mail.suppressions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/suppressions/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Lift a suppression
         * @description Allows e-mail to an address again. Requires an admin. 404: the address is not suppressed.
         */
        delete: operations["mail.lift"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/suppressions/lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lift many suppressions
         * @description Allows e-mail to many addresses again, for example to all that bounced while the relay was misconfigured. An address must match all given members. Suppressions of recipients who unsubscribed can only be lifted one at a time. Requires an admin.
         */
        post: operations["mail.lift_many"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mcp/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a tool of any MCP server
         * @description Calls a tool of an MCP server that need not belong to an agent. Used by `runyard mcp`. Requires an admin.
         */
        post: operations["mcp.try_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mcp/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List the tools of any MCP server
         * @description Queries an MCP server that need not belong to an agent, without the cache. Used by `runyard mcp`. Requires an admin.
         */
        post: operations["mcp.try_tools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List modules
         * @description Lists all modules that the server has found, including those that are disabled or could not be loaded. Requires an admin.
         */
        get: operations["host.list_modules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules/{name}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a module
         * @description Unloads a module. It stays disabled until the server restarts; the configuration does not change. 409: a required module depends on it. Requires an admin.
         */
        post: operations["host.disable_module"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules/{name}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a module
         * @description Loads a module that is disabled. It stays enabled until the server restarts; the configuration does not change. The module's file must be in `modules.path`. Requires an admin.
         */
        post: operations["host.enable_module"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules/{name}/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reload a module
         * @description Loads the module's file again. The new version is loaded next to the old one, its database schema is migrated, and it is started. Then its routes replace the old ones, and the old version finishes its work and stops. Modules that use it are restarted with it. Returns when the old versions have ended, which takes at most `reload.drain_seconds`. If a step before the takeover fails, nothing changes. Requires an admin.
         */
        post: operations["host.reload_module"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List nodes
         * @description Lists all nodes that share the database, with their state as of their latest heartbeat. Requires an admin.
         */
        get: operations["host.list_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a node
         * @description Stops a node from taking jobs. Within a second, runs that are started on the node are queued for other nodes; within a quarter of `jobs.lease_seconds`, its `/readyz` returns 503. The node finishes its jobs and continues to serve requests. A restart of the node ends the drain. Requires an admin.
         */
        post: operations["host.drain_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes/{id}/undrain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undrain a node
         * @description Lets a drained node take jobs again. Requires an admin.
         */
        post: operations["host.undrain_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all notifications
         * @description Lists the notifications of all accounts, newest first. Requires an admin.
         */
        get: operations["notifications.all"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a notification
         * @description Returns any notification with its deliveries. Requires an admin.
         */
        get: operations["notifications.one"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a notification
         * @description Cancels a notification that has not been delivered. If the orchestrator already has it, it is withdrawn from there, if the orchestrator supports this. Requires an admin. 409: it is too late to cancel the notification.
         */
        post: operations["notifications.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/{id}/requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a notification
         * @description Queues a `failed` or `dead` notification again. Requires an admin. 404: there is no such `failed` or `dead` notification.
         */
        post: operations["notifications.requeue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List broadcasts
         * @description Lists broadcasts, newest first. Requires an admin.
         */
        get: operations["notifications.broadcasts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a broadcast
         * @description Returns a broadcast with the number of its notifications in each state. Requires an admin.
         */
        get: operations["notifications.broadcast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a broadcast
         * @description Cancels a broadcast. Notifications that have not been delivered are withdrawn, including e-mails in the outbox; inbox entries stay. Requires an admin. 409: the broadcast has ended.
         */
        post: operations["notifications.cancel_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a broadcast
         * @description Pauses a scheduled or running broadcast: no further notifications are written or delivered, and its e-mails in the outbox wait. Requires an admin. 409: the broadcast has ended, or its state does not allow this.
         */
        post: operations["notifications.pause_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a broadcast
         * @description Resumes a paused broadcast after the account that was notified last. Requires an admin. 409: the broadcast is not paused.
         */
        post: operations["notifications.resume_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Trigger a notification
         * @description Sends a notification to one account, or to all accounts. Exactly one of `subscriber_id`, `subscriber_email` and `broadcast` is required. Requires an admin. 404: the account does not exist. 422: the rendered title is empty.
         */
        post: operations["notifications.trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get queue statistics
         * @description Returns the current number of jobs in each queue, and the nodes, for the entire deployment. `/metrics` contains the same numbers, a few seconds old. Requires an admin.
         */
        get: operations["host.queues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List referrals under review
         * @description Lists referrals that are held back for a review, newest first. Requires an admin.
         */
        get: operations["referrals.flagged"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/{id}/flag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hold a referral back
         * @description Marks a pending referral for review, so that it earns no credits until it is released. Requires an admin. 409: the referral is not pending, or it is void.
         */
        post: operations["referrals.flag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a referral
         * @description Releases a referral that is held back, so that it can earn credits. Requires an admin. 409: the referral is not held back.
         */
        post: operations["referrals.release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a referral
         * @description Revokes a referral and the credits that it earned on both sides. This can make balances negative. Requires an admin. 409: the referral is void or already revoked.
         */
        post: operations["referrals.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/codes/{code}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a referral code
         * @description Resumes a suspended code. Requires an admin. 404: the code does not exist or is no longer valid.
         */
        post: operations["referrals.resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/codes/{code}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend a referral code
         * @description Suspends a code. Its referrals, including new ones, earn no credits until the code is resumed. Requires an admin. 404: the code does not exist or is no longer valid.
         */
        post: operations["referrals.suspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of all accounts
         * @description Lists runs of all accounts, newest first. Requires an admin. Without filters, only runs in progress are returned. With filters, all runs that match every filter are returned. An unknown parameter returns 422.
         */
        get: operations["runs.live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run of any account
         * @description Returns one run, including the provider and server errors that its owner does not see. Requires an admin.
         */
        get: operations["runs.adminRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook receivers
         * @description Lists the configured receivers of event webhooks with their delivery status. Requires an admin.
         */
        get: operations["webhooks.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{name}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a webhook receiver
         * @description Enables a receiver that was disabled because its deliveries failed or it responded with 410. Requires an admin.
         */
        post: operations["webhooks.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message
         * @description Sends a message of the type `webhook.test` to a receiver. Requires an admin. 409: the receiver is disabled.
         */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Returns the run's status, outcome and usage.
         */
        get: operations["runs.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Alias of `GET /agent-run/{id}`.
         */
        get: operations["runs.status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a run
         * @description Stops the run and returns its final status as soon as it has ended, usually within a second, even in the middle of a model answer or tool call. A run that is still waiting for a slot can be stopped, too. If the run had already ended, its status is returned unchanged.
         */
        post: operations["runs.stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the events of a run
         * @description Returns the run's events as Server-Sent Events. Each event has one `data:` line with a JSON object of the schema `Event` and, except for `ping` and `server_draining`, an `id:` line with its sequence number. The stream begins with the first event, or with the event after `Last-Event-ID`, and continues live until the terminal event (a `status` event whose status is not `running`); then the server closes the connection. A client that reconnects with the id of the last event it received misses no event and receives none twice. An id that is greater than that of any event of a run in progress is treated as its latest event; the first event is then a `gap` that covers all earlier events. Authenticate with a bearer token, or with a token from `POST /agent-run/{id}/stream-token` in the query parameter `token`.
         */
        get: operations["runs.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/stream-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a stream token
         * @description Creates a token for the event stream of this run, for the browser's `EventSource`, which cannot set headers. Pass it in the query parameter `token`. The token is valid for this stream only and expires after `expires_in` seconds: the longest time that the run may take plus 10 minutes. When a browser reconnects after that, it gets a 401 and needs a new token.
         */
        post: operations["runs.stream_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs
         * @description Lists the account's runs, newest first.
         */
        get: operations["runs.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Alias of `GET /agent-run/{id}`.
         */
        get: operations["runs.get_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Alias of `GET /agent-run/{id}`.
         */
        get: operations["runs.status_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a run
         * @description Alias of `POST /agent-run/{id}/stop`.
         */
        post: operations["runs.stop_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List active runs
         * @description Lists the account's runs that have not ended, newest first. At most 1000 runs are returned, without paging.
         */
        get: operations["runs.active"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start an agent run
         * @description Starts an agent run in a new or existing thread. Returns as soon as the run is stored; follow its progress with `GET /agent-run/{id}/stream`. A new thread requires `prompt`; an existing thread continues without one. If a client repeats a start with the same `Idempotency-Key` and the same fields, the first response is returned with the header `Idempotency-Replayed: true`, and no second run starts. Unknown form fields are ignored. A refused start leaves nothing behind.
         */
        post: operations["runs.start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description Lists the account's agents, newest first.
         */
        get: operations["agents.list"];
        put?: never;
        /**
         * Create an agent
         * @description Creates an agent. 402: the account has as many agents (`AGENT_LIMIT_EXCEEDED`) or MCP servers (`CUSTOM_WORKER_LIMIT_EXCEEDED`) as its plan allows.
         */
        post: operations["agents.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/custom-mcp-tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Discover the tools of an MCP server
         * @description Lists the tools of one MCP server. The list is cached for 24 hours; `Cache-Control: no-cache` refreshes it. If the agent already has the server, its stored headers are used, unless `X-MCP-Headers` contains others. A server of type `json` is identified by the name of its configuration; commands are never taken from headers. 400: a header is missing or invalid, or the address is refused. 502 and 504: the server cannot be reached, breaks the protocol, or does not answer within 30 seconds.
         */
        get: operations["mcp.discover"];
        /**
         * Replace the MCP servers of an agent
         * @description Replaces the complete list of MCP servers of the agent; an empty list removes all. A masked value of `headers` or `env` (`********`) keeps the value that is stored for the server of the same type and URL.
         */
        put: operations["mcp.replace"];
        /**
         * Enable tools of an MCP server
         * @description Sets which tools of one MCP server the agent may use. If the agent does not have the server yet, it is added. Unknown tool names are refused with 400 once the server's tools are known.
         */
        post: operations["mcp.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/custom-mcp-tools/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changed tool definitions
         * @description Lists enabled tools whose definition has changed, for servers with `on_tool_change` set to `ask` or `block`. The current definition differs from the accepted one, which is the definition that runs saw first or that was approved last. These tools cannot be called until the change is approved.
         */
        get: operations["mcp.changed_definitions"];
        put?: never;
        /**
         * Approve a changed tool definition
         * @description Accepts the current definition of a tool, for all agents of the account that use this server.
         */
        post: operations["mcp.approve_definition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent
         * @description Returns the current version of an agent.
         */
        get: operations["agents.get"];
        /**
         * Update an agent
         * @description Changes the given members and creates a new version of the agent; members that are absent or null do not change, except `model_name`. The body may be the response of `GET /agents/{id}` with changes. In `custom_mcps`, a masked value of `headers` or `env` keeps the value that is stored for the MCP server of the same type and URL.
         */
        put: operations["agents.update"];
        post?: never;
        /**
         * Delete an agent
         * @description Deletes an agent with its versions. The default agent cannot be deleted.
         */
        delete: operations["agents.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of an agent
         * @description Lists the versions of an agent, newest first.
         */
        get: operations["agents.versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Lists the account's API keys. The keys themselves are not included.
         */
        get: operations["accounts.list_keys"];
        put?: never;
        /**
         * Create an API key
         * @description Creates an API key for the account. Only this response contains the key. The owner of the account is informed by e-mail. 403: the caller authenticated with an API key. 409: the account has as many keys as its plan allows (`API_KEY_LIMIT_EXCEEDED`). 429: the account has created too many keys within an hour.
         */
        post: operations["accounts.create_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Revokes an API key of the account at once. 403: the caller authenticated with an API key. 404: the account has no such key.
         */
        delete: operations["accounts.revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List notification deliveries
         * @description Alias of `GET /notifications/deliveries`.
         */
        get: operations["notifications.deliveries_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/device-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's push devices
         * @description Alias of `GET /notifications/device-token`.
         */
        get: operations["notifications.devices_alias"];
        put?: never;
        /**
         * Register a device for push notifications
         * @description Alias of `POST /notifications/device-token`.
         */
        post: operations["notifications.add_device_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/device-token/{device_token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unregister a device
         * @description Alias of `DELETE /notifications/device-token/{device_token}`.
         */
        delete: operations["notifications.drop_device_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List inbox notifications
         * @description Alias of `GET /notifications/inbox`.
         */
        get: operations["notifications.inbox_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark a notification as read
         * @description Alias of `POST /notifications/inbox/{id}/read`.
         */
        post: operations["notifications.read_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/read-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark all notifications as read
         * @description Alias of `POST /notifications/inbox/read-all`.
         */
        post: operations["notifications.read_all_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the inbox
         * @description Alias of `GET /notifications/inbox/stream`. Tokens for the query parameter `token` come from `POST /api/notifications/inbox/stream-token`.
         */
        get: operations["notifications.inbox_stream_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/stream-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an inbox stream token
         * @description Creates a token for `GET /api/notifications/inbox/stream`, in the same way as `POST /notifications/inbox/stream-token`.
         */
        post: operations["notifications.inbox_stream_token_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/unread-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the number of unread notifications
         * @description Alias of `GET /notifications/inbox/unread-count`.
         */
        get: operations["notifications.unread_count_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get notification preferences
         * @description Alias of `GET /notifications/preferences`.
         */
        get: operations["notifications.preferences_alias"];
        /**
         * Update notification preferences
         * @description Alias of `PUT /notifications/preferences`.
         */
        put: operations["notifications.put_preferences_alias"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get notification settings
         * @description Alias of `GET /notifications/settings`.
         */
        get: operations["notifications.settings_alias"];
        /**
         * Update notification settings
         * @description Alias of `PUT /notifications/settings`.
         */
        put: operations["notifications.put_settings_alias"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/web-push-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the Web Push key
         * @description Alias of `GET /notifications/web-push-key`.
         */
        get: operations["notifications.web_push_key_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/webhooks/{orchestrator}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an orchestrator webhook
         * @description Alias of `POST /notifications/webhooks/{orchestrator}`.
         */
        post: operations["notifications.webhook_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/presence/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report presence
         * @description Alias of `POST /presence/update`.
         */
        post: operations["notifications.presence_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the caller's referral code
         * @description Returns the caller's referral code and link. The code is created if the caller has none yet.
         */
        get: operations["referrals.code"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List referrals
         * @description Lists the accounts that have used the caller's code, newest first.
         */
        get: operations["referrals.history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the referral through which the caller signed up
         * @description Returns when the caller receives the credits for signing up with a referral code, and why they are delayed.
         */
        get: operations["referrals.received"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the referral code
         * @description Replaces the caller's code with a new one. The old code becomes invalid, and its pending referrals are not credited. 403: the code is suspended. 429: the code was refreshed too often today.
         */
        post: operations["referrals.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an invitation
         * @description Sends an invitation e-mail with the caller's referral link. 429: the caller has sent too many invitations.
         */
        post: operations["referrals.send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/send-bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send several invitations
         * @description Sends invitation e-mails to up to 50 addresses. The response reports the result for each address.
         */
        post: operations["referrals.send_bulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get referral statistics
         * @description Returns how many accounts have used the caller's code, and how many credits they have earned.
         */
        get: operations["referrals.stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate a referral code
         * @description Checks a code, for example for a sign-up page. Authentication is optional; requests are rate limited. The caller's own code is not valid.
         */
        post: operations["referrals.validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the log-in page
         * @description Returns the page for logging in and signing up. Referral links open this page.
         */
        get: operations["console.auth_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the log-in configuration
         * @description Returns what a log-in page needs to know. Requires no authentication.
         */
        get: operations["accounts.login_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/log-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in
         * @description Returns tokens for an e-mail address and a password. 401: the address or the password is wrong (`WRONG_LOGIN`).
         */
        post: operations["accounts.log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/log-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description Ends the session that is identified by the refresh token, by the cookie or, without them, by the access token.
         */
        post: operations["accounts.log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description Changes the caller's password. All other sessions end, and all API keys are revoked unless `keep_api_keys` is true; an e-mail lists them. 403: the current password is wrong, or the caller authenticated with an API key. 409: the account has no password.
         */
        post: operations["accounts.change_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh tokens
         * @description Exchanges a refresh token for a new access token and a new refresh token. A refresh token can be used once. After that it is accepted for another 20 seconds, for example after a lost response; a later use ends the session.
         */
        post: operations["accounts.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a password reset
         * @description Sends an e-mail with a link to set a new password, if the address has an account.
         */
        post: operations["accounts.ask_for_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reset/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset the password
         * @description Sets a new password with the token from the link in the e-mail, and logs in. All other sessions end and all API keys are revoked; an e-mail lists them.
         */
        post: operations["accounts.finish_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Lists the sessions of the caller's account, most recently used first.
         */
        get: operations["accounts.list_sessions"];
        put?: never;
        post?: never;
        /**
         * End all sessions
         * @description Ends all sessions of the caller's account, including the current one. API keys remain valid unless `revoke_api_keys` is true; an e-mail lists them.
         */
        delete: operations["accounts.end_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session
         * @description Ends one session of the caller's account.
         */
        delete: operations["accounts.end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign up
         * @description Signs up with e-mail address and password. The response is 202, and the account is created when the link in the confirmation e-mail is opened. If the server does not verify addresses, the account is created at once, and the response is 201 with tokens.
         */
        post: operations["accounts.sign_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a sign-up
         * @description Creates the account with the token from the link in the confirmation e-mail, and logs in. Requires the `proof` from the response to the sign-up, or the password of the sign-up.
         */
        post: operations["accounts.verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/webhooks/identity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an identity provider webhook
         * @description Receives messages of the identity provider about its users: events of Clerk, hooks of Supabase Auth, and database webhooks of Supabase. They create and update accounts; `user.deleted` deletes the account. Other types are only logged. Messages are signed according to Standard Webhooks; the timestamp may differ by at most 300 seconds, and each message id is processed once. A sender that cannot sign its messages sends a secret in `X-Webhook-Token` instead.
         */
        post: operations["accounts.identity_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the console
         * @description Returns the web console.
         */
        get: operations["console.page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/assets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a console asset
         * @description Returns a script, style sheet or image of the console.
         */
        get: operations["console.asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/worker.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the service worker
         * @description Returns the service worker of the console, which shows Web Push notifications.
         */
        get: operations["console.worker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check liveness
         * @description Returns 200 as long as the process handles requests, regardless of the state of the database. Use it as a liveness probe.
         */
        get: operations["host.healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mail/unsubscribe/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the unsubscribe page
         * @description Returns a page with a button to unsubscribe. The request itself changes nothing, because mail scanners open links.
         */
        get: operations["mail.ask_unsubscribe"];
        put?: never;
        /**
         * Unsubscribe
         * @description Unsubscribes the address from this category of e-mail. Mail programs use this for one-click unsubscribing (RFC 8058). With the form field `undo`, the address is subscribed again.
         */
        post: operations["mail.unsubscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/oauth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a connection
         * @description Redirect URI of the authorization server. Completes the connection in the browser that confirmed it.
         */
        get: operations["mcp_prebuilt.callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/oauth/client": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the client metadata document
         * @description Returns the OAuth client metadata of this server, for authorization servers that accept the URL of this document as client id. Requires no authentication.
         */
        get: operations["mcp_prebuilt.client_document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/oauth/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the confirmation page
         * @description Returns the page that `connect_url` opens. It names the MCP server, the account that gets access and the authorization server, and sets a cookie. Only the browser that confirms can complete the connection.
         */
        get: operations["mcp_prebuilt.ask_to_confirm"];
        put?: never;
        /**
         * Confirm a connection
         * @description Confirms the connection and redirects the browser to the authorization server. Called by the form of the confirmation page.
         */
        post: operations["mcp_prebuilt.confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List integration profiles
         * @description Lists the account's profiles, and the integrations that the operator offers.
         */
        get: operations["mcp_prebuilt.list"];
        put?: never;
        /**
         * Create an integration profile
         * @description Creates a profile, either for an integration that the operator offers (`integration`, `credentials`), or for your own MCP server that requires OAuth (`url`, `oauth`). Connect a profile that uses OAuth with `POST /mcp/profiles/{id}/connect`. 409: the account has too many profiles.
         */
        post: operations["mcp_prebuilt.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/profiles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an integration profile
         * @description Deletes a profile with its credentials and tokens.
         */
        delete: operations["mcp_prebuilt.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/profiles/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a consent link
         * @description Creates a link where the user grants access to the MCP server. The link can be used once. It expires after 10 minutes, or when the next link is created. It opens the confirmation page of this server or, if `mcp_prebuilt.redirect_url` is set, the authorization server.
         */
        post: operations["mcp_prebuilt.connect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get metrics
         * @description Returns the metrics of this node for Prometheus.
         */
        get: operations["host.metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List notification deliveries
         * @description Lists the deliveries of the caller's notifications on each channel, newest first.
         */
        get: operations["notifications.deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/device-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's push devices
         * @description Lists the caller's devices, the most recently registered first. Tokens are not returned.
         */
        get: operations["notifications.devices"];
        put?: never;
        /**
         * Register a device for push notifications
         * @description Registers a device of the caller. A device belongs to the account that registered it last. 422: the provider is unknown, or the token is invalid for this provider.
         */
        post: operations["notifications.add_device"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/device-token/{device_token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unregister a device
         * @description Removes a device of the caller. The request succeeds even if the device is not registered.
         */
        delete: operations["notifications.drop_device"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List inbox notifications
         * @description Lists the notifications in the caller's inbox, newest first.
         */
        get: operations["notifications.inbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark a notification as read
         * @description Marks one notification in the caller's inbox as read.
         */
        post: operations["notifications.read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/read-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark all notifications as read
         * @description Marks all notifications in the caller's inbox as read.
         */
        post: operations["notifications.read_all"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the inbox
         * @description Returns changes of the caller's inbox as Server-Sent Events of the schema `InboxEvent`: new notifications, with an id, and changes of the number of unread notifications. Authenticate with a bearer token, or with a token from `POST /notifications/inbox/stream-token` in the query parameter `token`.
         */
        get: operations["notifications.inbox_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/stream-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an inbox stream token
         * @description Creates a token for the inbox stream, for the browser's `EventSource`, which cannot set headers. Pass it in the query parameter `token`. It is valid for 24 hours.
         */
        post: operations["notifications.inbox_stream_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/unread-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the number of unread notifications
         * @description Returns the number of unread notifications in the caller's inbox.
         */
        get: operations["notifications.unread_count"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get notification preferences
         * @description Returns the caller's quiet hours and the preferences for each workflow.
         */
        get: operations["notifications.preferences"];
        /**
         * Update notification preferences
         * @description Changes quiet hours and workflow preferences. The body is merged with the current preferences; `null` for `quiet_hours` or a workflow restores the default.
         */
        put: operations["notifications.put_preferences"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get notification settings
         * @description Returns which channels the caller has enabled.
         */
        get: operations["notifications.settings"];
        /**
         * Update notification settings
         * @description Enables or disables channels. Members that are absent or null do not change.
         */
        put: operations["notifications.put_settings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/web-push-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the Web Push key
         * @description Returns the public key that web pages need to subscribe to Web Push. 404: Web Push is not available.
         */
        get: operations["notifications.web_push_key"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/webhooks/{orchestrator}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an orchestrator webhook
         * @description Receives events of the notification orchestrator, such as `notification.sent` and `notification.failed`. If a secret is configured, messages must be signed according to Standard Webhooks. The response is `ok` for all types of events. 401: the signature is invalid.
         */
        post: operations["notifications.webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the OpenAPI document
         * @description Returns this document. It describes the loaded modules, and changes when a module is reloaded, enabled or disabled.
         */
        get: operations["host.openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/presence/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report presence
         * @description Reports which thread the caller is viewing. While a thread is being viewed, notifications about its runs are suppressed. While the thread is open, repeat the request before `notifications.presence_seconds` (120 by default) have passed.
         */
        post: operations["notifications.presence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workspace files
         * @description Lists the entries of one directory of the project's workspace.
         */
        get: operations["runs.files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{id}/files/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a workspace file
         * @description Returns the content of a file in the project's workspace. A file of more than 16 MiB must be requested in parts with `offset` and `limit`; otherwise the response is 413.
         */
        get: operations["runs.file_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check readiness
         * @description Returns 200 if this node can serve requests. Otherwise, also during startup and shutdown, returns 503 with the reasons. Use it as the health check of a load balancer.
         */
        get: operations["host.readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the API reference page
         * @description Returns a page that shows all operations of this server.
         */
        get: operations["console.reference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/thread/{id}/agent-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a thread
         * @description Alias of `GET /threads/{id}/agent-runs`.
         */
        get: operations["runs.of_thread_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List threads
         * @description Lists the account's threads, newest first.
         */
        get: operations["runs.list_threads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a thread
         * @description Returns a thread, with the agent, model and status of its latest run.
         */
        get: operations["runs.get_thread"];
        put?: never;
        post?: never;
        /**
         * Delete a thread
         * @description Deletes the thread with its messages, runs and events. If it was the last thread of its project, the workspace files of the project are deleted, too. The idempotency keys of its starts remain valid for 24 hours.
         */
        delete: operations["runs.delete_thread"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{id}/agent-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a thread
         * @description Lists the runs of one thread, newest first.
         */
        get: operations["runs.of_thread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of a thread
         * @description Lists the messages of a thread. A page ends after about 4 MB, even if it contains fewer than `limit` messages.
         */
        get: operations["runs.messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        "accounts.Account": {
            /**
             * Format: uuid
             * @description Same as `id`.
             */
            account_id: string;
            /** @description Balance in credits, with up to six decimals. 100 credits are one dollar. */
            balance_credits: number;
            /** @description Balance in millionths of a credit. */
            balance_micro: number;
            /** Format: date-time */
            created_at: string;
            /** @description Name of the account's owner. */
            display_name: string | null;
            email: string | null;
            /** @description Whether the e-mail address is confirmed. */
            email_verified: boolean;
            /** Format: uuid */
            id: string;
            /** @description Limits of the account's plan. */
            limits: {
                /** @description Whether the account may use all models. */
                all_models: boolean;
                /** @description Maximum number of concurrent runs. */
                concurrent_runs: number;
                /** @description Maximum number of MCP servers. */
                custom_mcps: number;
                /** @description Models that the account may use, unless `all_models` is true. */
                models: string[];
                /** @description Maximum number of threads. */
                threads: number;
                /** @description Maximum size of an uploaded file, in bytes. */
                upload_file_bytes: number;
                /** @description Maximum number of files per start. */
                upload_files: number;
            };
            /** @enum {unknown} */
            role: "user" | "admin" | "super_admin";
            /** @description Plan of the account. */
            tier: string;
        };
        "accounts.ApiKey": {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which the key expires. Null if it does not expire.
             */
            expires_at: string | null;
            /** @description Id of the key. */
            id: string;
            /**
             * Format: date-time
             * @description Time at which the key was last used. Null if it has not been used.
             */
            last_used_at: string | null;
            name: string;
        };
        "accounts.Balance": {
            /** Format: uuid */
            account_id: string;
            /** @description Balance in credits, with up to six decimals. */
            balance_credits: number;
            /** @description Balance in millionths of a credit. */
            balance_micro: number;
            /** @description Whether an earlier request with the same reference made this change. If true, nothing was moved. */
            replayed: boolean;
        };
        "accounts.Entry": {
            /** Format: date-time */
            at: string;
            /** @description Balance after the entry, in credits. */
            balance_credits: number;
            /** @description Balance after the entry, in millionths of a credit. */
            balance_micro: number;
            /** @description Change of the balance in credits; negative for charges and revocations. */
            delta_credits: number;
            /** @description Change of the balance in millionths of a credit. */
            delta_micro: number;
            id: number;
            /** @description `grant`, `charge`, `revoke`, `referral` or `adjust`. */
            kind: string;
            /** @description Details, which depend on the kind. */
            note: unknown;
            /** @description Reference, unique per kind. */
            ref: string;
        };
        "accounts.Refused": {
            detail: {
                /** @description Balance in credits. */
                balance_credits?: number;
                /** @description Balance in millionths of a credit. */
                balance_micro?: number;
                /** @description Credits that were moved under that reference. */
                credits?: number;
                /** @enum {unknown} */
                error_code: "IDEMPOTENCY_KEY_REUSED" | "BALANCE_TOO_LOW";
                message: string;
            };
        };
        "accounts.Tokens": {
            /** @description Token to be sent as `Authorization: Bearer`. */
            access_token: string;
            /** Format: uuid */
            account_id: string;
            email: string;
            /** @description Time until the access token expires, in seconds. */
            expires_in: number;
            /** @description Token for `POST /auth/refresh`. Absent if it is set as a cookie. */
            refresh_token?: string;
            /** @constant */
            token_type: "Bearer";
        };
        "agents.Agent": {
            /** Format: uuid */
            agent_id: string;
            /** @description MCP servers. Values of `headers` and `env` are masked as `********`. */
            custom_mcps: components["schemas"]["agents.Mcp"][];
            /** @description Description for the account's users; not sent to the model. */
            description: string;
            /** @description Whether this is the account's default agent, which is used if a start names none. Each account has exactly one. */
            is_default: boolean;
            /** @description Model of the agent: an alias, or `<provider>/<model>`. Null: the default model of the deployment. */
            model_name: string | null;
            name: string;
            /** @description Instructions for the model. */
            system_prompt: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Version number, starting at 1. Each change creates a new version. */
            version: number;
        };
        "agents.Change": {
            /** @description Ignored, so that the response of `GET /agents/{id}` can be sent back. */
            agent_id?: unknown;
            /** @description Ignored. */
            created_at?: unknown;
            /** @description MCP servers, which replace the current list. `custom_type` and `enabled_tools` are accepted as synonyms of `customType` and `enabledTools`. */
            custom_mcps?: {
                [key: string]: unknown;
            }[] | null;
            /** @description Description, at most 2000 bytes. */
            description?: string | null;
            /** @description The version that the client has read. If the agent has a different one, the response is 409 and nothing changes. */
            expected_version?: number | null;
            /** @description `true` makes this the account's default agent. */
            is_default?: boolean | null;
            /** @description Model of the agent: an alias, or `<provider>/<model>`. Null: the default model of the deployment. Absent: no change. */
            model_name?: string | null;
            /** @description Name, 1 to 100 bytes. */
            name?: string | null;
            /** @description Instructions for the model, at most 64 KiB. */
            system_prompt?: string | null;
            /** @description Ignored. */
            updated_at?: unknown;
            /** @description Ignored. */
            version?: unknown;
        };
        "agents.Mcp": {
            /** @description Configuration, which depends on the type: `url` and `headers` (`http`, `sse`); `profile_id` (`prebuilt`); `command`, `args` and `env` (`json`). All types: `reuse`, `session`, `revision`, `tasks`, `timeout_seconds`, `instructions`, `resources` and `on_tool_change`. */
            config: {
                [key: string]: unknown;
            };
            /** @description Type identifier of a server that is not prebuilt. */
            customType?: string;
            /** @description Names of the tools that the agent may use. */
            enabledTools: string[];
            /** @description Display name, also used in the names of the server's tools. */
            name: string;
            /**
             * @description Type of the server. `composio` is a synonym of `prebuilt`.
             * @enum {unknown}
             */
            type: "http" | "sse" | "prebuilt" | "composio" | "json";
        };
        "agents.New": {
            /** @description Ignored. */
            agent_id?: unknown;
            /** @description Ignored. */
            created_at?: unknown;
            /** @description MCP servers. `custom_type` and `enabled_tools` are accepted as synonyms of `customType` and `enabledTools`. */
            custom_mcps?: {
                [key: string]: unknown;
            }[] | null;
            /** @description Description, at most 2000 bytes. */
            description?: string | null;
            /** @description Ignored. */
            expected_version?: unknown;
            /** @description `true` makes this the account's default agent, in place of the current one. */
            is_default?: boolean | null;
            /** @description Model of the agent: an alias, or `<provider>/<model>`. Default: the default model of the deployment. */
            model_name?: string | null;
            /** @description Name, 1 to 100 bytes. */
            name: string;
            /** @description Instructions for the model, at most 64 KiB. */
            system_prompt?: string | null;
            /** @description Ignored. */
            updated_at?: unknown;
            /** @description Ignored. */
            version?: unknown;
        };
        /** @description Value for `cursor` to get the next page. Null on the last page. */
        "agents.NextCursor": string | null;
        "agents.TooManyServers": {
            detail: {
                /** @description Number of agents or MCP servers of the account. */
                current_count: number;
                /**
                 * @description `CUSTOM_WORKER_LIMIT_EXCEEDED`: too many MCP servers. `AGENT_LIMIT_EXCEEDED`: too many agents.
                 * @enum {unknown}
                 */
                error_code: "CUSTOM_WORKER_LIMIT_EXCEEDED" | "AGENT_LIMIT_EXCEEDED";
                /** @description Limit of the account's plan. */
                limit: number;
                message: string;
                /** @description The account's plan. */
                tier_name: string;
            };
        };
        "agents.Version": {
            /** Format: uuid */
            agent_id: string;
            /** Format: date-time */
            created_at: string;
            /** @description MCP servers. Values of `headers` and `env` are masked as `********`. */
            custom_mcps: components["schemas"]["agents.Mcp"][];
            description: string;
            /** @description Whether this is the current version. */
            is_current: boolean;
            /** @description Model of the agent. Null: the default model of the deployment. */
            model_name: string | null;
            name: string;
            system_prompt: string;
            version: number;
        };
        /** @description The body of every error response. */
        "host.Error": {
            /** @description An error message, or an object with at least `message`. */
            detail: string | ({
                message: string;
            } & {
                [key: string]: unknown;
            });
        };
        "host.Health": {
            /** @constant */
            status: "ok";
        };
        "host.Jobs": {
            jobs: {
                /** @description Number of attempts so far. */
                attempts: number;
                /** @description Number of attempts whose node crashed or disappeared. */
                crashes: number;
                /** Format: date-time */
                enqueued_at: string;
                id: number;
                /** @description Kind of the job, such as `runs.execute`. */
                kind: string;
                /** @description Error of the latest failed attempt. */
                last_error: string | null;
                /** @description Maximum number of attempts. */
                max_attempts: number;
                /**
                 * Format: uuid
                 * @description Id of the node that executes the job. Null if it is not running.
                 */
                node: string | null;
                queue: string;
                /**
                 * Format: date-time
                 * @description Time at which the job becomes due. For dead jobs: the time at which the last attempt failed.
                 */
                run_at: string;
            }[];
            /** @description Value for `cursor` to get the next page. Null on the last page. */
            next_cursor: string | null;
        };
        "host.LeftModule": {
            /** @description Number of the instance. */
            generation: number;
            module: string;
            /**
             * @description `unloaded`: removed from memory. `ended (still mapped)`: ended, but its library stays in memory. `retired (still mapped)`: did not end in time.
             * @enum {unknown}
             */
            outcome: "unloaded" | "ended (still mapped)" | "retired (still mapped)";
            /** @description Why the instance did not end. */
            reason?: string;
            version: string;
        };
        "host.Module": {
            /** @description Major version of the module ABI that the module was built for. */
            abi_major: number;
            /** @description Minor version of the module ABI that the module was built for. */
            abi_minor: number;
            /** @description Event consumers of the module, with the kinds of events. */
            consumers: components["schemas"]["host.Names"];
            /** @description Drivers that the module has registered for extension points. */
            drivers: {
                /** @description The driver's name. */
                name: string;
                /** @description The extension point. */
                point: string;
            }[];
            /** @description Path of the module's file. */
            file: string;
            /** @description Flags from the module's manifest. */
            flags: number;
            /** @description Number of the loaded instance of the module, counted over all modules. 0 if the module is not loaded. */
            generation: number;
            /** @description Kinds of jobs that the module executes. */
            jobs: components["schemas"]["host.Names"];
            /** @description Description of the latest exception or incorrect call. */
            last_strike?: string;
            /** @description The latest ten replaced or removed instances of the module that are still in memory. */
            left?: components["schemas"]["host.LeftModule"][];
            /** @description Ids of the module's database migrations. */
            migrations: components["schemas"]["host.Names"];
            /** @description Oldest minor version of the host's ABI that the module works with. */
            min_host_minor: number;
            name: string;
            /** @description Services that the module uses. */
            needs: {
                /** @description Id of the service, such as `accounts/1`. */
                id: string;
                /** @description Smallest size of the service's function table that the module works with, in bytes. */
                min_size: number;
                /** @description Whether the module works without the service. */
                optional: boolean;
            }[];
            /** @description Number of requests, jobs and calls that the module has begun and not finished. */
            outstanding: number;
            /** @description Extension points that the module defines. */
            points: components["schemas"]["host.Names"];
            /** @description Services that the module provides. */
            provides: components["schemas"]["host.Names"];
            /** @description Why the module was refused or retired. */
            reason?: string;
            /** @description Whether the server refuses to start without the module. */
            required: boolean;
            /** @description Routes of the module, such as `GET /threads/{id}`. */
            routes: components["schemas"]["host.Names"];
            /** @description Services that the module has registered. */
            services: components["schemas"]["host.Names"];
            /** @description JSON Schema of the module's settings. Null if it has none. */
            settings_schema: {
                [key: string]: unknown;
            } | null;
            /** @description SHA-256 hash of the module's file. */
            sha256: string;
            /** @description Number of callbacks that blocked an event loop for longer than 50 ms. */
            slow_callbacks: number;
            /**
             * @description `disabled`: disabled by the configuration or an admin. `refused`: could not be loaded. `created` and `started`: steps of the startup. `stopped`: ended. `retired`: did not stop, and stays in memory.
             * @enum {unknown}
             */
            state: "disabled" | "refused" | "created" | "started" | "stopped" | "retired";
            /** @description Number of exceptions that escaped from callbacks, and of incorrect calls of the host. */
            strikes: number;
            version: string;
        };
        "host.ModuleChange": {
            /**
             * @description What was done.
             * @enum {unknown}
             */
            change: "reload" | "enable" | "disable";
            /** @description Number of requests that were aborted because they did not end in time. */
            cut_requests: number;
            /** @description Module instances that were replaced or removed. */
            left: components["schemas"]["host.LeftModule"][];
            /** @description Name of the module. */
            module: string;
            /** @description Module instances that were started, including those of modules that depend on this one. */
            started: {
                /** @description Number of the instance. */
                generation: number;
                module: string;
                version: string;
            }[];
            /** @description Time until the new instances handled all new requests, in milliseconds. */
            swap_ms: number;
            /** @description Time until the old instances had stopped, in milliseconds. */
            total_ms: number;
            /** @description Names of running modules whose settings in the configuration have changed. Reload each of them to apply the changes. */
            unapplied_settings: string[];
        };
        "host.Names": string[];
        "host.Node": {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description Time at which the node's lease expires if it is not renewed.
             */
            lease_until: string;
            /** @description Host name of the node's machine. */
            name: string;
            /** @description Number of jobs in progress, including runs. */
            running: number;
            /** Format: date-time */
            started_at: string;
            /**
             * @description `active`: takes jobs. `draining`: takes no more jobs. `silent`: its lease has expired, and other nodes claim its jobs.
             * @enum {unknown}
             */
            state: "active" | "draining" | "silent";
            /** @description Whether this node answered the request. */
            this: boolean;
            /** @description Share of the jobs that the node takes, compared with other nodes: the setting `jobs.weight`. */
            weight: number;
        };
        "host.NodeChange": {
            /** Format: uuid */
            id: string;
            /** @description Number of jobs in progress on the node. */
            running: number;
            /** @enum {unknown} */
            state: "active" | "draining";
        };
        "host.Queues": {
            nodes: {
                /** Format: uuid */
                id: string;
                /** @description Number of jobs in progress. */
                running: number;
                /** Format: date-time */
                started_at: string;
                /** @description Whether this node answered the request. */
                this: boolean;
            }[];
            queues: {
                /** @description Jobs whose attempts all failed. */
                dead: number;
                /** @description Time that the oldest ready job has waited, in seconds. */
                oldest_ready_seconds: number;
                queue: string;
                /** @description Jobs that wait for a node. */
                ready: number;
                /** @description Jobs in progress. */
                running: number;
                /** @description Jobs that are due later or wait for their next attempt. */
                scheduled: number;
            }[];
        };
        "host.Readiness": {
            /** @description Problems that do not keep the node from serving requests. Absent if there are none. */
            degraded?: components["schemas"]["host.Trouble"][];
            /** @description Why the node is not ready. */
            reasons: components["schemas"]["host.Trouble"][];
            /** @enum {unknown} */
            status: "ready" | "not_ready";
        };
        "host.Trouble": {
            /** @description Description of the problem. */
            message: string;
            /** @description The component of the server, or the module. */
            room: string;
        };
        "mcp_prebuilt.Profile": {
            /** @description Whether the profile has access to the server. Present only if the profile uses OAuth. */
            connected?: boolean;
            display_name: string;
            /** @description Name of the integration. Null for a server of the account's own. */
            integration: string | null;
            /** Format: uuid */
            profile_id: string;
            url?: string;
        };
        "mcp.Call": {
            /** @description Arguments of the call. */
            arguments?: {
                [key: string]: unknown;
            };
            config: components["schemas"]["mcp.Config"];
            /** @description Name of the tool. */
            tool: string;
            /** @description Type of the server: `http`, `sse`, `prebuilt` or `json`. */
            type: string;
        };
        /** @description Configuration of an MCP server. The required members depend on the type of the server. */
        "mcp.Config": {
            /** @description Arguments of the command (`json`). */
            args?: string[] | null;
            /** @description Command to run. Required for `json`; must be on the operator's list of allowed commands. */
            command?: string;
            /** @description Environment variables of the command (`json`). */
            env?: {
                [key: string]: unknown;
            } | null;
            /** @description Headers to send to the server (`http` and `sse`). */
            headers?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether the server's instructions are added to the system prompt.
             * @default true
             */
            instructions: boolean | null;
            /**
             * @description What happens when the server changes the definition of an enabled tool. `log`: the change is logged. `ask`: calls fail until the change is approved. `block`: the tool is not offered until the change is approved.
             * @default log
             * @enum {unknown}
             */
            on_tool_change: "log" | "ask" | "block" | null;
            /** @description Id of the integration profile. Required for `prebuilt`. */
            profile_id?: string;
            /** @description Whether runs can list and read the server's resources. Default: true if a tool of the server is enabled. */
            resources?: boolean | null;
            /** @description Whether the connection is kept for later calls. */
            reuse?: boolean | null;
            /**
             * @description Revision of the MCP protocol; `auto` detects it.
             * @default auto
             * @enum {unknown}
             */
            revision: "auto" | "2026-07-28" | "2025-11-25" | "2025-06-18" | "2025-03-26" | "2024-11-05" | "2024-10-07" | null;
            /**
             * @description Calls that share a session with the server: `call` (none), `run` (all calls of a run), or `thread` (all calls of a thread). Default: `run` if the server keeps a session, otherwise `call`.
             * @enum {unknown}
             */
            session?: "call" | "run" | "thread" | null;
            /** @description Time limit of a tool call in seconds; progress that increases restarts it. */
            timeout_seconds?: number | null;
            /** @description URL of the server. Required for `http` and `sse`. */
            url?: string;
        } & {
            [key: string]: unknown;
        };
        "mcp.Names": string[];
        "mcp.Question": {
            config: components["schemas"]["mcp.Config"];
            /** @description Type of the server: `http`, `sse`, `prebuilt` or `json`. */
            type: string;
        };
        "mcp.Server": {
            config: components["schemas"]["mcp.Config"];
            /** @description Type identifier of a server that is not prebuilt. */
            customType?: string;
            /** @description Names of the tools that the agent may use. */
            enabledTools: components["schemas"]["mcp.Names"];
            /** @description Display name, also used in the names of the server's tools. */
            name: string;
            /** @description Type of the server: `http`, `sse`, `prebuilt` or `json`. */
            type: string;
        };
        "mcp.ServerFailed": {
            detail: {
                /**
                 * @description `MCP_CONNECT_FAILED`: the server cannot be reached. `MCP_PROTOCOL_ERROR`: the server violates the protocol. `MCP_TIMEOUT`: the server did not respond in time.
                 * @enum {unknown}
                 */
                error_code: "MCP_CONNECT_FAILED" | "MCP_PROTOCOL_ERROR" | "MCP_TIMEOUT";
                /** @description Names the server and the cause. */
                message: string;
            } | string;
        };
        "mcp.ServerIn": {
            config: components["schemas"]["mcp.Config"];
            /** @description Type identifier of a server that is not prebuilt. */
            customType?: string | null;
            /** @description Names of the tools that the agent may use. */
            enabledTools?: components["schemas"]["mcp.Names"];
            /** @description Display name, also used in the names of the server's tools. */
            name: string;
            /** @description Type of the server: `http`, `sse`, `prebuilt` or `json`. */
            type: string;
        };
        "mcp.TooManyServers": {
            detail: {
                /** @description Number of MCP servers of the account. */
                current_count: number;
                /** @constant */
                error_code: "CUSTOM_WORKER_LIMIT_EXCEEDED";
                /** @description Limit of the account's plan. */
                limit: number;
                message: string;
                /** @description The account's plan. */
                tier_name: string;
            };
        };
        /**
         * @description Type of an MCP server. `composio` is a synonym of `prebuilt`.
         * @default sse
         * @enum {unknown}
         */
        "mcp.Type": "http" | "sse" | "prebuilt" | "composio" | "json";
        /** @description Number of accounts, and of those that the broadcast would reach on each channel according to their settings. */
        "notifications.Audience": {
            /** @description Number of accounts. */
            accounts: number;
            /** @description Accounts that would be reached by e-mail. */
            email: number;
            /** @description Accounts that would be reached in the inbox. */
            in_app: number;
            /** @description Accounts that would be reached by push notification. */
            push: number;
        };
        "notifications.Broadcast": {
            /** Format: date-time */
            created_at: string;
            /** @description Subject of the token of the admin who created the broadcast. */
            created_by: string;
            /**
             * Format: date-time
             * @description Time at which the broadcast ended. Null if it has not ended.
             */
            ended_at: string | null;
            /** Format: uuid */
            id: string;
            /** @description Number of notifications by state. */
            notifications?: {
                [key: string]: number;
            };
            payload_template: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time at which the broadcast starts. Null: at once.
             */
            scheduled_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the broadcast started. Null if it has not started.
             */
            started_at: string | null;
            /** @enum {unknown} */
            status: "scheduled" | "running" | "paused" | "cancelled" | "completed";
            workflow_id: string;
            /** @description Number of accounts for which a notification has been written. */
            written: number;
        };
        "notifications.Delivery": {
            /** Format: date-time */
            at: string;
            /**
             * @description Channel of the delivery. Null if the notification was suppressed on all channels.
             * @enum {unknown}
             */
            channel: "email" | "push" | "in_app" | null;
            /** @description Details, such as the reason of a failure. */
            detail: string | null;
            /** Format: uuid */
            notification_id: string;
            /** @description Provider that delivered the notification. */
            provider: string | null;
            /** @description Result of the delivery. */
            status: string;
            workflow_id: string;
        };
        "notifications.Entry": {
            /** @description Link to open. Null if there is none. */
            action_url: string | null;
            body: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            /** @description Data of the notification. */
            payload: {
                [key: string]: unknown;
            };
            read: boolean;
            /**
             * Format: date-time
             * @description Time at which the notification was marked as read. Null if it is unread.
             */
            read_at: string | null;
            title: string;
            workflow_id: string;
        };
        /** @description One event of the inbox stream. */
        "notifications.InboxEvent": {
            notification: components["schemas"]["notifications.Entry"];
            /** @constant */
            type: "notification";
            /** @description Number of unread notifications in the inbox. */
            unread_count: number;
        } | {
            /** @constant */
            type: "unread_count";
            /** @description Number of unread notifications in the inbox. */
            unread_count: number;
        } | {
            /** @constant */
            type: "ping";
        };
        "notifications.Notification": {
            /** Format: uuid */
            account_id: string;
            /** @description Number of delivery attempts. */
            attempts: number;
            /** Format: date-time */
            created_at: string;
            deliveries?: components["schemas"]["notifications.Delivery"][];
            /**
             * Format: date-time
             * @description Time at which the notification reached its final state. Null if it has not.
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description Time after which delivery is no longer attempted.
             */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            /** @description Whether the recipient may have received the notification twice. */
            maybe_duplicate: boolean;
            payload?: {
                [key: string]: unknown;
            };
            /** @description Channels on which the notification has not been delivered yet. */
            pending: string[];
            /** @description Why the notification was suppressed or failed. */
            reason: string | null;
            /**
             * @description `queued`: waiting for delivery. `gathered`: waiting for a digest. `sent`: accepted on at least one channel. `suppressed`: not sent because of settings or presence. `failed`: permanently refused. `dead`: all delivery attempts failed. `cancelled`: cancelled by an admin.
             * @enum {unknown}
             */
            status: "queued" | "gathered" | "sent" | "suppressed" | "failed" | "dead" | "cancelled";
            /** @description Id of the notification at the orchestrator. */
            transaction_id: string;
            workflow_id: string;
        };
        "notifications.Preferences": {
            /** @description Daily time range in which e-mails and push messages wait. Null if there are no quiet hours. */
            quiet_hours: {
                /** @description Start of the quiet hours, such as `22:00`. */
                from: string;
                /** @description End of the quiet hours, such as `07:00`. */
                to: string;
            } | null;
            /** @description Time zone of the quiet hours, from the IANA time zone database. */
            time_zone: string;
            /** @description Preferences by workflow id. */
            workflows: {
                [key: string]: components["schemas"]["notifications.WorkflowPreferences"];
            };
        };
        "notifications.Settings": {
            /** Format: uuid */
            account_id: string;
            /** @description Whether e-mails are sent. */
            email_enabled: boolean;
            /** @description Whether notifications are added to the inbox. */
            in_app_enabled: boolean;
            /** @description Whether push notifications are sent. */
            push_enabled: boolean;
        };
        /** @description Preferences for one workflow. */
        "notifications.WorkflowPreferences": {
            /** @description Minutes for which notifications are collected into one digest. 0: each is sent at once. */
            digest_minutes: number;
            /** @description Whether e-mails are sent. */
            email: boolean;
            /** @description Whether notifications are added to the inbox. */
            in_app: boolean;
            /** @description Whether the notifications are sent regardless of the preferences. */
            mandatory: boolean;
            /** @description For workflows about tasks: e-mails are sent only for runs that took at least this many minutes. Absent: the server's setting `notifications.task_email_minutes`. */
            min_minutes?: number;
            /** @description Whether push notifications are sent. */
            push: boolean;
            /** @description Present and true if the recipient unsubscribed with the link in an e-mail. `email` is false until the recipient subscribes again with that link, or the owner of the verified address turns `email` on. */
            unsubscribed?: boolean;
            /** @description Whether the notifications are sent during quiet hours. */
            urgent: boolean;
        };
        "referrals.Referral": {
            /** @description Credits awarded to the code's owner. 0 while the referral is pending. */
            credits_awarded: number;
            /** Format: uuid */
            id: string;
            /** @description The reason as a sentence. */
            message: string | null;
            /**
             * @description Why the referral has not earned credits. Null if it has.
             * @enum {unknown}
             */
            reason: "not_qualified" | "on_hold" | "under_review" | "code_suspended" | "cap_reached" | "code_refreshed" | "self_referral" | "disposable_address" | "same_mailbox" | "account_deleted" | "revoked" | null;
            referral_code: string;
            /**
             * Format: uuid
             * @description Account that used the code.
             */
            referred_account_id: string;
            /** Format: date-time */
            referred_at: string;
            /**
             * Format: uuid
             * @description Account that owns the code.
             */
            referrer_id: string;
            /**
             * @description `pending`: the referral has not earned credits yet. `successful`: it has.
             * @enum {unknown}
             */
            status: "pending" | "successful";
        };
        "referrals.Sent": {
            /** @description Result as a sentence. */
            message: string;
            success: boolean;
        };
        /** @description A piece of the model's answer. */
        "runs.Chunk": {
            /** @description Text to append to the answer. */
            content: string;
            /** @description With `coalesce_ms`: sequence number of the first of the merged chunks. Absent if nothing was merged. */
            from_sequence?: number;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @constant */
            type: "llm_response_chunk";
        };
        /** @description Older messages were replaced by a summary in the requests to the model, because the conversation exceeds its context window. */
        "runs.Compacted": {
            /** @description Credits charged for the summary. */
            credits: number;
            /** @description Number of messages that the summary replaces. */
            messages: number;
            /** @description Model that wrote the summary. */
            model: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Number of the model answer before which the summary was made. */
            step: number;
            /** @constant */
            type: "context_compacted";
            /** @description Tokens used for the summary. */
            usage: components["schemas"]["runs.Usage"];
        };
        /** @description The server is shutting down. Reconnect with the id of the last event received. Has no `sequence`. */
        "runs.Draining": {
            /** @constant */
            type: "server_draining";
        };
        /** @description One event of the run's event stream. Every event has a `type`; all except `ping` and `server_draining` have a `sequence`, which starts at 1 and increases without gaps during the run. */
        "runs.Event": components["schemas"]["runs.Running"] | components["schemas"]["runs.Queued"] | components["schemas"]["runs.ResponseStart"] | components["schemas"]["runs.Chunk"] | components["schemas"]["runs.ReasoningChunk"] | components["schemas"]["runs.ResponseEnd"] | components["schemas"]["runs.TurnAborted"] | components["schemas"]["runs.MessageEvent"] | components["schemas"]["runs.ToolCall"] | components["schemas"]["runs.ToolOutput"] | components["schemas"]["runs.ToolProgress"] | components["schemas"]["runs.ToolResult"] | components["schemas"]["runs.RunError"] | components["schemas"]["runs.Notice"] | components["schemas"]["runs.Compacted"] | components["schemas"]["runs.Gap"] | components["schemas"]["runs.Snapshot"] | components["schemas"]["runs.Ping"] | components["schemas"]["runs.Draining"];
        "runs.File": {
            /**
             * @description Type of the entry; `link` is a symbolic link.
             * @enum {unknown}
             */
            kind: "file" | "dir" | "link" | "other";
            /** @description Time of the last modification, in microseconds since 1970-01-01T00:00:00Z. */
            modified_unix_us: number;
            /** @description Name of the entry. */
            name: string;
            /** @description Size in bytes. */
            size: number;
        };
        /** @description `true`, `1`, `false`, `0` or empty. Case-insensitive. */
        "runs.Flag": string;
        /** @description The events of this range are not sent on this stream: they were deleted, or the client asked for events after a sequence number that the run has not reached. */
        "runs.Gap": {
            /** @description First sequence number of the range. */
            from: number;
            /** @description Sequence number of the event; same as `to`. */
            sequence: number;
            /** @description Last sequence number of the range. */
            to: number;
            /** @constant */
            type: "gap";
        };
        "runs.Message": {
            /**
             * Format: uuid
             * @description Run that the message belongs to.
             */
            agent_run_id: string;
            /** @description A string, or an array of parts, such as text and images. */
            content: unknown;
            /** Format: date-time */
            created_at: string;
            /**
             * @description Present if the model did not finish the answer. After `length` and `pause`, the next assistant message continues this one.
             * @enum {unknown}
             */
            finish?: "length" | "pause" | "content_filter" | "refusal";
            /** @description In a message with the role `tool`: whether the call failed. */
            is_error?: boolean;
            /** @description In the result of `find_tools`: the tools it found, which later requests to the model contain. */
            loaded_tools?: string[];
            /** Format: uuid */
            message_id: string;
            /** @description In a message with the role `tool`: name of the tool. */
            name?: string;
            /**
             * @description Author of the message; `tool` is the result of a tool call.
             * @enum {unknown}
             */
            role: "user" | "assistant" | "tool";
            /** Format: uuid */
            thread_id: string;
            /** @description In a message with the role `tool`: id of the tool call that this is the result of. */
            tool_call_id?: string;
            /** @description Tool calls that the model made in this message. */
            tool_calls?: {
                /** @description Arguments of the call. */
                arguments: unknown;
                /** @description Id of the tool call; the `tool_call_id` of its result. */
                id: string;
                /** @description Name of the tool. */
                name: string;
            }[];
        };
        /** @description A message was added to the thread. */
        "runs.MessageEvent": {
            /** @description Text of the message. */
            content: string;
            /** Format: uuid */
            message_id: string;
            /** @description Author of the message: `user`, `assistant` or `tool`. */
            role: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @constant */
            type: "message";
        };
        "runs.NotAllowed": {
            detail: {
                /** @description Number of threads of the account. Present with `THREAD_LIMIT_EXCEEDED`. */
                current_count?: number;
                /** @enum {unknown} */
                error_code: "INSUFFICIENT_CREDITS" | "MODEL_ACCESS_DENIED" | "AGENT_RUN_LIMIT_EXCEEDED" | "THREAD_LIMIT_EXCEEDED";
                /** @description The limit of the account's plan. */
                limit?: number;
                message: string;
                /** @description Number of runs in progress. Present with `AGENT_RUN_LIMIT_EXCEEDED`. */
                running_count?: number;
                /** @description Threads with runs in progress. Present with `AGENT_RUN_LIMIT_EXCEEDED`. */
                running_thread_ids?: string[];
                /** @description The account's plan. Present with `MODEL_ACCESS_DENIED`. */
                tier_name?: string;
            };
        };
        /** @description Part of a request was omitted or changed to meet the provider's limits. The run continues. */
        "runs.Notice": {
            /** @description `tool_skipped`, `image_skipped`, `parameter_skipped`, `tool_search` (requests contain only some of the tools, and `find_tools` to find the others), `workspace_withheld` (`memory_enabled` is `false`, and another thread has used the workspace), or another code of a provider driver. */
            code: string;
            /** @description Message that explains the notice. */
            message: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @constant */
            type: "notice";
        };
        /** @description Keep-alive after 10 seconds without events. Has no `sequence`. */
        "runs.Ping": {
            /** @constant */
            type: "ping";
        };
        /** @description The run is waiting for a slot or for an earlier run of its thread. Sent each time its position changes. */
        "runs.Queued": {
            /** @description Position in the queue, starting at 1. */
            position: number;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @constant */
            type: "queued";
        };
        /**
         * @description Why a run ended. `ok`: the model finished its answer. `user_stop`: a client stopped the run. `timeout`: the run exceeded its time limit. `step_limit`: the run reached the maximum number of model answers. `budget`: the budget of the run was used up. `credits`: the account had no credits left. `llm_error`: the model provider failed. `tool_error`: the agent kept repeating the same tool call. `crashed`: an internal error, or the nodes that executed the run crashed too often. `length`: the answer was truncated at the model's output limit, even after it was continued. `content_filter`: the provider withheld the answer. `refusal`: the model declined to answer. `no_answer`: the model gave an empty answer twice.
         * @enum {unknown}
         */
        "runs.Reason": "ok" | "user_stop" | "timeout" | "step_limit" | "budget" | "credits" | "llm_error" | "tool_error" | "crashed" | "length" | "content_filter" | "refusal" | "no_answer";
        /** @description A piece of the model's reasoning. */
        "runs.ReasoningChunk": {
            /** @description Text to append to the reasoning. */
            content: string;
            /** @description With `coalesce_ms`: sequence number of the first of the merged chunks. Absent if nothing was merged. */
            from_sequence?: number;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @constant */
            type: "reasoning_chunk";
        };
        /** @description The model's answer has ended. After `length` and `pause`, the text continues with the chunks of the next answer. */
        "runs.ResponseEnd": {
            /** @description Credits charged for this answer. */
            credits: number;
            /**
             * @description How the answer ended. Absent if the run was stopped before the answer ended.
             * @enum {unknown}
             */
            finish?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "error";
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Number of the model answer within the run. */
            step: number;
            /** @constant */
            type: "llm_response_end";
            /** @description Tokens used by this answer. */
            usage: components["schemas"]["runs.Usage"];
        };
        /** @description The model starts to answer. If `attempt` is greater than 1, discard what earlier attempts of this step streamed. */
        "runs.ResponseStart": {
            /** @description Number of the attempt at this answer, starting at 1. */
            attempt: number;
            /** @description Model that answers, in the form `<provider>/<model>`. */
            model: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Number of the model answer within the run, starting at 1. */
            step: number;
            /** @constant */
            type: "llm_response_start";
        };
        "runs.Run": {
            /** Format: uuid */
            agent_id: string | null;
            /**
             * Format: uuid
             * @description Same as `id`.
             */
            agent_run_id: string;
            /** Format: date-time */
            completed_at: string | null;
            /** @description Duration of the run from its start to its end, in milliseconds. Null while the run is in progress. */
            duration_ms: number | null;
            /** @description Error message of a failed run. */
            error: string | null;
            /** @description Error code of a failed run, such as `RUN_TIMEOUT`. */
            error_code: string | null;
            /**
             * Format: uuid
             * @description Id of the run.
             */
            id: string;
            /** @description Whether the agent gets information from outside the thread. */
            memory_enabled: boolean;
            /** @description Execution mode: `agent`, `chat` or `code`. */
            mode: string;
            /** @description Model in the form `<provider>/<model>`. */
            model_name: string | null;
            /** Format: uuid */
            project_id: string;
            /** @description Position in the queue, starting at 1. Null unless the run is waiting. */
            queue_position: number | null;
            /** @description Time that the run waited before it began, in milliseconds. */
            queue_wait_ms: number | null;
            /** @description Why the run ended. Null while the run is in progress. */
            reason: components["schemas"]["runs.Reason"] | null;
            /** Format: date-time */
            started_at: string;
            status: components["schemas"]["runs.Status"];
            /** Format: uuid */
            thread_id: string;
            /** @description Time from the start of the run to the first text of the model, in milliseconds. Null if no text has been streamed yet, or if the worker that streamed the first text ended before it recorded the time. */
            time_to_first_token_ms: number | null;
            /** @description Tokens and credits used by the run so far. */
            usage: {
                /** @description Input tokens written to the provider's cache; included in `input_tokens`. Absent if 0. */
                cache_write_tokens?: number;
                /** @description Input tokens read from the provider's cache; included in `input_tokens`. */
                cached_tokens: number;
                /** @description Credits charged for the run, with up to six decimals. */
                credits: number;
                /** @description Tokens sent to models. */
                input_tokens: number;
                /** @description Tokens generated by models. */
                output_tokens: number;
            };
        };
        /** @description An error that does not end the stream. A failed run also sends the terminal event. */
        "runs.RunError": {
            /** @description Error code, such as `RUN_TIMEOUT`. */
            error_code: string;
            /** @description Error message. */
            message: string;
            /** @description Whether the run continues. */
            recoverable: boolean;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @constant */
            type: "error";
        };
        /** @description The status of the run. Any status but `running` makes this the terminal event, after which the server closes the stream. Only the terminal event has the members from `reason` on. */
        "runs.Running": {
            /** @description Credits charged for the run. */
            credits?: number;
            /** @description Duration of the run from its start to its end, in milliseconds. */
            duration_ms?: number;
            /** @description Error message. Present if the status is `failed`. */
            error?: string;
            /** @description Error code, such as `RUN_TIMEOUT`. Present if the status is `failed`. */
            error_code?: string;
            /** @description Time that the run waited before it began, in milliseconds. */
            queue_wait_ms?: number | null;
            /** @description Why the run ended. */
            reason?: components["schemas"]["runs.Reason"];
            /** @description Sequence number of the event. */
            sequence: number;
            status: components["schemas"]["runs.Status"];
            /** @description Time from the start of the run to the first text of the model, in milliseconds. Null if there was none. */
            time_to_first_token_ms?: number | null;
            /** @description Sum of input and output tokens. */
            tokens?: number;
            /** @constant */
            type: "status";
            /** @description Tokens used by the run. */
            usage?: components["schemas"]["runs.Usage"];
        };
        /** @description The state of the run up to its sequence number. Sent first with `mode=snapshot`. */
        "runs.Snapshot": {
            /** @description Aborted attempts whose events precede the snapshot: a client that resumes discards what it has of them. */
            aborted: {
                [key: string]: unknown;
            }[];
            /** @description Text of the model's answers, without aborted attempts. */
            content: string;
            /** @description All other events, unchanged. */
            events: {
                [key: string]: unknown;
            }[];
            /** @description First sequence number that the snapshot covers. */
            from_sequence: number;
            /** @description Ids of the messages that were added to the thread. */
            message_ids: string[];
            /** @description The part of `content` and `reasoning` that a later `turn_aborted` or attempt would void, with `step`, `attempt` and `from_sequence`. Null if there is none. */
            open_turn: {
                [key: string]: unknown;
            } | null;
            /** @description Reasoning of the model, without aborted attempts. */
            reasoning: string;
            /** @description Sequence number of the event; same as `to_sequence`. */
            sequence: number;
            /** @description Status of the run. */
            status: string;
            /** @description Last sequence number that the snapshot covers. */
            to_sequence: number;
            /** @description Tool calls with their arguments, output and results. */
            tool_calls: {
                [key: string]: unknown;
            }[];
            /** @constant */
            type: "snapshot";
        };
        "runs.Started": {
            /**
             * Format: uuid
             * @description Id of the run.
             */
            agent_run_id: string;
            /**
             * Format: uuid
             * @description Id of the project that contains the thread.
             */
            project_id: string;
            /** @description Position in the queue, starting at 1. Present only if the run is waiting. */
            queue_position?: number;
            /**
             * Format: uuid
             * @description Id of the project's sandbox. Present only if files were uploaded or the project has a sandbox.
             */
            sandbox_id?: string;
            /**
             * @description Always `running`, even if the run is waiting for a slot.
             * @constant
             */
            status: "running";
            /**
             * Format: uuid
             * @description Id of the thread, new or existing.
             */
            thread_id: string;
            /** @description Present only for super admins who set `X-Emit-Timing: true`. */
            timing_breakdown?: {
                /** @description Time spent on setup and validation, in milliseconds. */
                setup_ms: number;
            };
        };
        "runs.StartForm": {
            /** @description UUID of the agent. Default: the account's default agent, even for an existing thread. */
            agent_id?: string;
            /** @description Maximum cost of the run in credits: from 0.000001 to 1000000000, with at most six decimals. Default: no budget. */
            budget_credits?: string;
            /** @description What happens when the budget is used up; requires `budget_credits`. `hard` (default): end the run before the next tool call or model answer. `finish_turn`: make the tool calls of the current answer, then end the run. `soft`: send a warning event and continue. Case-insensitive. */
            budget_policy?: ("" | "hard" | "soft" | "finish_turn") | string;
            /** @description Files to upload to `/workspace/uploads`. Repeat the part for each file. The number and size of files depend on the account's plan. */
            files?: string[];
            /** @description Maximum number of tokens of one model answer, from 1 to 10000000. Default: the value configured for the model. */
            max_output_tokens?: string;
            /** @description `false`: the agent gets no information from outside the thread, and cannot use the workspace if another thread has used it. Default: `true`. */
            memory_enabled?: components["schemas"]["runs.Flag"];
            /** @description Execution mode. `agent` (default): with tools. `chat`: without tools. `code`: with tools and instructions for working on software. Case-insensitive. */
            mode?: ("" | "agent" | "chat" | "code") | string;
            /** @description Model to use instead of the agent's model: an alias, or `<provider>/<model>`. The models that an account may use depend on its plan. */
            model_name?: string;
            /** @description What to do if the thread has a run in progress. `reject` (default): return 409. `enqueue`: wait until the thread's earlier runs have ended. `interrupt`: stop those runs, then start. Case-insensitive. */
            on_busy?: ("" | "reject" | "enqueue" | "interrupt") | string;
            /** @description `true`: the client chooses `thread_id` and `project_id`, and both are required. Default: `false`. */
            optimistic?: components["schemas"]["runs.Flag"];
            /** @description UUID of the project for a new thread. Required with `optimistic`, which creates a project that does not exist under this id; without it, the project must exist. Default: a new project. */
            project_id?: string;
            /** @description The user's message. Required for a new thread. */
            prompt?: string;
            /** @description `true`: at the account's limit of concurrent runs, wait for a slot instead of returning 402. Default: `false`. */
            queue?: components["schemas"]["runs.Flag"];
            /** @description How much the model reasons before it answers. Case-insensitive. Default: the value configured for the model, otherwise the provider's default. */
            reasoning_effort?: ("" | "none" | "minimal" | "low" | "medium" | "high") | string;
            /** @description Sampling temperature, from 0 to 2. Default: the value configured for the model, otherwise the provider's default. */
            temperature?: string;
            /** @description UUID of the thread to continue. With `optimistic`, also the id of a thread to create. Default: a new thread. */
            thread_id?: string;
            /** @description Which tool the model calls: `auto` (the model decides), `none`, `required` (any tool), or `{"name":"<tool>"}` (this tool). `required` and a named tool apply only to the first answer of the run. */
            tool_choice?: string;
            /** @description Nucleus sampling probability, from 0 to 1. Default: the value configured for the model, otherwise the provider's default. */
            top_p?: string;
        };
        /**
         * @description Status of a run. `running` includes runs that are waiting for a slot. The other values are final.
         * @enum {unknown}
         */
        "runs.Status": "running" | "completed" | "failed" | "stopped";
        "runs.Thread": {
            /**
             * Format: uuid
             * @description Agent of the latest run. A start without `agent_id` uses the default agent, even on an existing thread; send this value to continue with the same agent.
             */
            agent_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description The latest run of the thread. Null if it has none. */
            latest_run: {
                /** Format: uuid */
                agent_id: string;
                /** Format: uuid */
                agent_run_id: string;
                /** @description Whether the agent gets information from outside the thread. */
                memory_enabled: boolean;
                /** @description Execution mode: `agent`, `chat` or `code`. */
                mode: string;
                /** @description Model in the form `<provider>/<model>`. */
                model_name: string;
                status: components["schemas"]["runs.Status"];
            } | null;
            /** @description Model of the latest run. */
            model_name: string | null;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            thread_id: string;
            /** @description Title, derived from the first prompt. Null if there is none. */
            title: string | null;
        };
        /** @description The agent calls a tool. */
        "runs.ToolCall": {
            /** @description Arguments of the call. */
            arguments: unknown;
            /** @description Name of the tool. */
            name: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Where the tool comes from, such as `sandbox` or `mcp:<server>`. */
            source: string;
            /** @description Id of the tool call, which its later events repeat. */
            tool_call_id: string;
            /** @constant */
            type: "tool_call";
        };
        /** @description Output of a tool while it runs. */
        "runs.ToolOutput": {
            /** @description Text to append to the output. */
            content: string;
            /** @description With `coalesce_ms`: sequence number of the first of the merged chunks. Absent if nothing was merged. */
            from_sequence?: number;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Id of the tool call. */
            tool_call_id: string;
            /** @constant */
            type: "tool_output_chunk";
        };
        /** @description Progress of a tool call as its source reports it, such as `3/10: step` or the status of a task of an MCP server. The same text follows as `tool_output_chunk`. */
        "runs.ToolProgress": {
            /** @description Progress as text. */
            message: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Id of the tool call. */
            tool_call_id: string;
            /** @constant */
            type: "tool_progress";
        };
        /** @description Result of a tool call. */
        "runs.ToolResult": {
            /** @description Result as the model gets it. */
            content: string;
            /** @description Whether the call failed. */
            is_error: boolean;
            /** @description Name of the tool. */
            name: string;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Id of the tool call. */
            tool_call_id: string;
            /** @constant */
            type: "tool_result";
        };
        /** @description The events of this range are void: discard their content. The usage of the failed attempt is reported, but not charged. */
        "runs.TurnAborted": {
            /** @description Number of the aborted attempt. */
            attempt: number;
            /** @description Credits charged for the failed attempt. */
            credits?: number;
            /** @description First sequence number of the void range. */
            from_sequence: number;
            /** @description Sequence number of the event. */
            sequence: number;
            /** @description Number of the model answer within the run. */
            step: number;
            /** @description Last sequence number of the void range. */
            to_sequence: number;
            /** @constant */
            type: "turn_aborted";
            /** @description Tokens used by the failed attempt. */
            usage?: components["schemas"]["runs.Usage"];
        };
        "runs.Usage": {
            /** @description Input tokens written to the provider's cache; included in `input_tokens`. Absent if 0. */
            cache_write_tokens?: number;
            /** @description Input tokens read from the provider's cache; included in `input_tokens`. */
            cached_tokens: number;
            /** @description Tokens sent to the model. */
            input_tokens: number;
            /** @description Tokens generated by the model. */
            output_tokens: number;
        };
        "webhooks.Endpoint": {
            /** @description Number of delivered messages. */
            delivered: number;
            /**
             * Format: date-time
             * @description Time at which the receiver was disabled. Null if it is enabled.
             */
            disabled_at: string | null;
            /** @description Types of events that the receiver gets. */
            events: string[];
            /**
             * Format: date-time
             * @description Time since which all deliveries have failed. Null if the latest one succeeded.
             */
            failing_since: string | null;
            /** @description Error of the latest failed delivery. */
            last_error: string | null;
            /**
             * Format: date-time
             * @description Time of the latest successful delivery. Null if there was none.
             */
            last_success_at: string | null;
            name: string;
            /** @description URL without its query. */
            url: string;
        };
    };
    responses: {
        /** @description The account. */
        "accounts.Account": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "email": "ann@example.org",
                 *       "display_name": "Ann",
                 *       "tier": "free",
                 *       "role": "user",
                 *       "balance_credits": 499.9958,
                 *       "balance_micro": 499995800,
                 *       "email_verified": true,
                 *       "created_at": "2026-11-20T09:30:00.000Z",
                 *       "limits": {
                 *         "concurrent_runs": 1,
                 *         "threads": 10,
                 *         "custom_mcps": 1,
                 *         "upload_file_bytes": 10485760,
                 *         "upload_files": 10,
                 *         "all_models": false,
                 *         "models": [
                 *           "runyard/basic"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["accounts.Account"];
            };
        };
        /** @description The link is unknown, expired or already used (`LINK_NOT_VALID`). */
        "accounts.LinkNotValid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "This link is no longer valid",
                 *         "error_code": "LINK_NOT_VALID"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The caller authenticated with an API key, which cannot do this. */
        "accounts.NeedsToken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "An API key may not create or revoke API keys"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The tokens of the new session. */
        "accounts.Tokens": {
            headers: {
                /** @description The refresh token, with `session: "cookie"`. */
                "Set-Cookie"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                 *       "token_type": "Bearer",
                 *       "expires_in": 900,
                 *       "refresh_token": "cmVmcmVzaA",
                 *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "email": "ann@example.org"
                 *     }
                 */
                "application/json": components["schemas"]["accounts.Tokens"];
            };
        };
        /** @description The credentials are wrong, or the caller may not do this. */
        "accounts.Wrong": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "Wrong e-mail address or password",
                 *         "error_code": "WRONG_LOGIN"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description `custom_mcps` adds an MCP server, and MCP integrations are not enabled on this server. */
        "agents.NoServers": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP integrations are not enabled"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The account has as many agents or MCP servers as its plan allows. */
        "agents.TooManyServers": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "You have reached the limit of 1 custom MCP servers of your plan",
                 *         "current_count": 1,
                 *         "limit": 1,
                 *         "tier_name": "free",
                 *         "error_code": "CUSTOM_WORKER_LIMIT_EXCEEDED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["agents.TooManyServers"];
            };
        };
        /** @description The agent does not exist or belongs to another account. */
        "agents.Unknown": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Worker not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The request is malformed; `detail` states the reason. */
        "host.BadRequest": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "limit must be a whole number from 1 to 100"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The body arrived too slowly or took too long. */
        "host.BodyTooSlow": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Request body too slow"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The request conflicts with the current state of the object. */
        "host.Conflict": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Another module change is in progress"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Done. */
        "host.Done": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": "done"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status: "done";
                };
            };
        };
        /** @description The caller's role does not allow this operation. */
        "host.Forbidden": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Forbidden"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description In local mode, or if `http.public_url` is set: the `Host` header is not a name of this server (`HOST_NOT_ALLOWED`), or a page of another origin sent a request that changes something (`ORIGIN_NOT_ALLOWED`). */
        "host.ForeignSite": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "Pages of this origin may not change anything here. The server's operator can add it to http.cors.origins",
                 *         "error_code": "ORIGIN_NOT_ALLOWED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Internal error. The server's log contains the cause, under the request id. */
        "host.InternalError": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Internal server error"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The token is missing or invalid. */
        "host.NotAuthenticated": {
            headers: {
                "WWW-Authenticate"?: "Bearer";
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Not authenticated"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The object does not exist or belongs to another account. */
        "host.NotFound": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Not Found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The server did not finish the request in time. */
        "host.TimedOut": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "The request took too long"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The body exceeds the limit of this route. */
        "host.TooLarge": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Request body too large"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The caller has sent too many requests, has too many open event streams, or has too many (`UPLOAD_LIMIT`) or too large (`UPLOAD_SPACE_LIMIT`) uploads in progress. Retry after the time in `Retry-After`. */
        "host.TooManyRequests": {
            headers: {
                /** @description Maximum number of requests in a burst. Sent with every response while a rate limit is configured. */
                "RateLimit-Limit"?: string;
                /** @description Number of requests that are allowed at the moment. */
                "RateLimit-Remaining"?: string;
                /** @description Time until the full number of requests is allowed again, in seconds. */
                "RateLimit-Reset"?: string;
                /** @description Time after which to retry, in seconds. */
                "Retry-After"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Too many requests"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The server is shutting down, cannot reach its database, or is at a limit: connections (`CONNECTION_LIMIT`), unread responses (`RESPONSE_BUFFER_LIMIT`) or uploads (`UPLOAD_LIMIT`, `UPLOAD_SPACE_LIMIT`). Retry after the time in `Retry-After`. */
        "host.Unavailable": {
            headers: {
                /** @description Time after which to retry, in seconds. */
                "Retry-After"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "The server is stopping"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description A value is invalid; `detail` names its field. */
        "host.Unprocessable": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "name must have 1 to 100 bytes"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The route does not accept this content type. */
        "host.UnsupportedMediaType": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "The body must be sent as application/json"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description MCP integrations are not enabled on this server. */
        "mcp_prebuilt.Disabled": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP integrations are not enabled"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The authorization server failed or took too long. */
        "mcp_prebuilt.Failed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "the authorization server took too long"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description MCP integrations are not enabled on this server. */
        "mcp.Disabled": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP integrations are not enabled"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The request is invalid, or it names an address or a command that is not allowed; `detail` states the reason. */
        "mcp.Invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP URL is required"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The MCP server failed, or did not respond within 30 seconds. */
        "mcp.ServerFailed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "\"mcp.example.org\": connection refused",
                 *         "error_code": "MCP_CONNECT_FAILED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.ServerFailed"];
            };
        };
        /** @description The account has as many MCP servers as its plan allows. */
        "mcp.TooManyServers": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "You have reached the limit of 1 custom MCP servers of your plan",
                 *         "current_count": 1,
                 *         "limit": 1,
                 *         "tier_name": "free",
                 *         "error_code": "CUSTOM_WORKER_LIMIT_EXCEEDED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.TooManyServers"];
            };
        };
        /** @description The agent does not exist or belongs to another account. */
        "mcp.UnknownAgent": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Worker not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The new state of the notification. */
        "notifications.Again": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "status": "queued"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    status: "queued" | "cancelled";
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description One page of notifications. */
        "notifications.All": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "notifications": [
                 *         {
                 *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "transaction_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "status": "sent",
                 *           "reason": null,
                 *           "pending": [],
                 *           "attempts": 1,
                 *           "maybe_duplicate": false,
                 *           "created_at": "2026-11-21T11:00:00.000Z",
                 *           "expires_at": "2026-11-22T11:00:00.000Z",
                 *           "ended_at": "2026-11-21T11:00:01.000Z"
                 *         }
                 *       ],
                 *       "next_cursor": null
                 *     }
                 */
                "application/json": {
                    /** @description Value for `cursor` to get the next page. Null on the last page. */
                    next_cursor: string | null;
                    notifications: components["schemas"]["notifications.Notification"][];
                };
            };
        };
        /** @description The broadcast. */
        "notifications.Broadcast": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "workflow_id": "newsletter",
                 *       "status": "running",
                 *       "payload_template": {
                 *         "title": "Hello {{first_name}}",
                 *         "message": "News"
                 *       },
                 *       "created_by": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b12",
                 *       "created_at": "2026-11-26T09:00:00.000Z",
                 *       "scheduled_at": null,
                 *       "started_at": "2026-11-26T09:00:01.000Z",
                 *       "ended_at": null,
                 *       "written": 1200,
                 *       "notifications": {
                 *         "sent": 1100,
                 *         "queued": 100
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["notifications.Broadcast"];
            };
        };
        /** @description One page of broadcasts. */
        "notifications.Broadcasts": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "broadcasts": [
                 *         {
                 *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "newsletter",
                 *           "status": "running",
                 *           "payload_template": {
                 *             "title": "Hello {{first_name}}",
                 *             "message": "News"
                 *           },
                 *           "created_by": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b12",
                 *           "created_at": "2026-11-26T09:00:00.000Z",
                 *           "scheduled_at": null,
                 *           "started_at": "2026-11-26T09:00:01.000Z",
                 *           "ended_at": null,
                 *           "written": 1200
                 *         }
                 *       ],
                 *       "next_cursor": null
                 *     }
                 */
                "application/json": {
                    broadcasts: components["schemas"]["notifications.Broadcast"][];
                    /** @description Value for `cursor` to get the next page. Null on the last page. */
                    next_cursor: string | null;
                };
            };
        };
        /** @description The new notification preferences. */
        "notifications.ChangedPreferences": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "message": "Notification preferences updated",
                 *       "preferences": {
                 *         "time_zone": "Europe/Berlin",
                 *         "quiet_hours": {
                 *           "from": "22:00",
                 *           "to": "07:00"
                 *         },
                 *         "workflows": {
                 *           "task-completed": {
                 *             "email": true,
                 *             "push": true,
                 *             "in_app": true,
                 *             "digest_minutes": 0,
                 *             "mandatory": false,
                 *             "urgent": false
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    message: string;
                    preferences: components["schemas"]["notifications.Preferences"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The new notification settings. */
        "notifications.ChangedSettings": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "message": "Notification settings updated",
                 *       "settings": {
                 *         "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "email_enabled": true,
                 *         "push_enabled": true,
                 *         "in_app_enabled": true
                 *       }
                 *     }
                 */
                "application/json": {
                    message: string;
                    settings: components["schemas"]["notifications.Settings"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description Notifications are not available in this deployment mode (the contract fixes the text of `detail`, whatever `notifications.allowed_modes` contains), or the caller's role does not allow this operation. */
        "notifications.Closed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Notifications only available in staging mode"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description One page of deliveries. */
        "notifications.Deliveries": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "deliveries": [
                 *         {
                 *           "notification_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "channel": "email",
                 *           "status": "delivered",
                 *           "provider": "mail",
                 *           "detail": "",
                 *           "at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ],
                 *       "next_cursor": null
                 *     }
                 */
                "application/json": {
                    deliveries: components["schemas"]["notifications.Delivery"][];
                    /** @description Value for `cursor` to get the next page. Null on the last page. */
                    next_cursor: string | null;
                };
            };
        };
        /** @description Registered devices, without their tokens. */
        "notifications.Devices": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "devices": [
                 *         {
                 *           "id": "fp:3c9d1e5b7a20c4f86e1d3b5a79c2e4f60817a9b3c5d7e9f10213243546576879",
                 *           "provider": "expo",
                 *           "device_type": "mobile",
                 *           "registered_at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    devices: {
                        device_type: string;
                        /** @description Id of the device; `DELETE /notifications/device-token/{device_token}` accepts it instead of the token. */
                        id: string;
                        provider: string;
                        /**
                         * Format: date-time
                         * @description When the device was last registered.
                         */
                        registered_at: string;
                    }[];
                };
            };
        };
        /** @description Done. */
        "notifications.Done": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description One page of notifications. */
        "notifications.Inbox": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "notifications": [
                 *         {
                 *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "title": "Done",
                 *           "body": "Report is done",
                 *           "action_url": "https://app.example.org/threads/0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "payload": {
                 *             "task_name": "Report"
                 *           },
                 *           "read": false,
                 *           "read_at": null,
                 *           "created_at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ],
                 *       "next_cursor": null,
                 *       "unread_count": 1
                 *     }
                 */
                "application/json": {
                    /** @description Value for `cursor` to get the next page. Null on the last page. */
                    next_cursor: string | null;
                    notifications: components["schemas"]["notifications.Entry"][];
                    /** @description Number of unread notifications in the inbox. */
                    unread_count: number;
                };
            };
        };
        /** @description The notifications were marked as read. */
        "notifications.Marked": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "marked": 1,
                 *       "unread_count": 0
                 *     }
                 */
                "application/json": {
                    /** @description Number of notifications that this request marked as read. */
                    marked: number;
                    /** @constant */
                    success: true;
                    /** @description Number of unread notifications that remain. */
                    unread_count: number;
                };
            };
        };
        /** @description The event was processed. */
        "notifications.Ok": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": "ok"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status: "ok";
                };
            };
        };
        /** @description The notification. */
        "notifications.One": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "transaction_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "workflow_id": "task-completed",
                 *       "status": "sent",
                 *       "reason": null,
                 *       "pending": [],
                 *       "attempts": 1,
                 *       "maybe_duplicate": false,
                 *       "created_at": "2026-11-21T11:00:00.000Z",
                 *       "expires_at": "2026-11-22T11:00:00.000Z",
                 *       "ended_at": "2026-11-21T11:00:01.000Z",
                 *       "payload": {
                 *         "task_name": "Report"
                 *       },
                 *       "deliveries": [
                 *         {
                 *           "notification_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "channel": "email",
                 *           "status": "delivered",
                 *           "provider": "mail",
                 *           "detail": "",
                 *           "at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["notifications.Notification"];
            };
        };
        /** @description The notification preferences. */
        "notifications.Preferences": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "preferences": {
                 *         "time_zone": "Europe/Berlin",
                 *         "quiet_hours": {
                 *           "from": "22:00",
                 *           "to": "07:00"
                 *         },
                 *         "workflows": {
                 *           "task-completed": {
                 *             "email": true,
                 *             "push": true,
                 *             "in_app": true,
                 *             "digest_minutes": 0,
                 *             "mandatory": false,
                 *             "urgent": false
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    preferences: components["schemas"]["notifications.Preferences"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description Done. */
        "notifications.Said": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "message": "Device token registered"
                 *     }
                 */
                "application/json": {
                    message: string;
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The notification settings. */
        "notifications.Settings": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "settings": {
                 *         "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "email_enabled": true,
                 *         "push_enabled": true,
                 *         "in_app_enabled": true
                 *       }
                 *     }
                 */
                "application/json": {
                    settings: components["schemas"]["notifications.Settings"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The new state of the broadcast. */
        "notifications.Steered": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "status": "paused"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    status: "scheduled" | "running" | "paused" | "cancelled" | "completed";
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The event stream. */
        "notifications.Stream": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /** @example data: {"type": "unread_count", "unread_count": 1} */
                "text/event-stream": string;
            };
        };
        /** @description The token. */
        "notifications.Token": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "token": "c3RyZWFt",
                 *       "expires_in": 600
                 *     }
                 */
                "application/json": {
                    /** @description Time until the token expires, in seconds. */
                    expires_in: number;
                    /** @description Value for the query parameter `token` of the stream. */
                    token: string;
                };
            };
        };
        /** @description The result. For one account: `notification_id`, `status` and, if the notification is not sent, `reason`. For a broadcast: `broadcast_id`. For a dry run: `audience` and `sample`. */
        "notifications.Triggered": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "notification_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "status": "queued"
                 *     }
                 */
                "application/json": {
                    audience?: components["schemas"]["notifications.Audience"];
                    /**
                     * Format: uuid
                     * @description Id of the broadcast.
                     */
                    broadcast_id?: string;
                    /**
                     * @description Present if the request was a dry run.
                     * @constant
                     */
                    dry_run?: true;
                    /** Format: uuid */
                    notification_id?: string;
                    /** @description Why the notification is not sent. */
                    reason?: string;
                    /** @description The rendered texts as the caller would receive them. */
                    sample?: {
                        action_url: string;
                        body: string;
                        /** @description HTML of the e-mail, without the layout that is added to all e-mails. */
                        mail_html: string;
                        mail_text: string;
                        title: string;
                    };
                    /**
                     * Format: date-time
                     * @description Time at which the broadcast starts. Present if it was given in the request.
                     */
                    scheduled_at?: string;
                    /** @description State of the notification. */
                    status?: string;
                    /** @description Whether the notification was accepted. If false, `reason` states why. */
                    success: boolean;
                };
            };
        };
        /** @description The number of unread notifications. */
        "notifications.UnreadCount": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "unread_count": 1
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: true;
                    /** @description Number of unread notifications in the inbox. */
                    unread_count: number;
                };
            };
        };
        /** @description The public key. */
        "notifications.WebPushKey": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "public_key": "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
                 *     }
                 */
                "application/json": {
                    /** @description `applicationServerKey` for `pushManager.subscribe()`, in base64url. */
                    public_key: string;
                };
            };
        };
        /** @description The action was carried out. */
        "referrals.Reviewed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "referral_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "action": "release"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The action that was carried out.
                     * @enum {unknown}
                     */
                    action: "flag" | "release" | "revoke";
                    /** Format: uuid */
                    referral_id: string;
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The run. */
        "runs.Run": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["runs.Run"];
            };
        };
        /** @description One page of runs. */
        "runs.Runs": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    agent_runs: components["schemas"]["runs.Run"][];
                    /** @description Value for `cursor` to get the next page. Null on the last page. */
                    next_cursor: string | null;
                };
            };
        };
        /** @description The run has ended. */
        "runs.Stopped": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": "stopped"
                 *     }
                 */
                "application/json": {
                    /** @description Final status of the run: `stopped`, or the status with which it had already ended. */
                    status: components["schemas"]["runs.Status"];
                };
            };
        };
        /** @description The project or the path does not exist, or the project belongs to another account. */
        "runs.UnknownFile": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "File not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The run does not exist or belongs to another account. */
        "runs.UnknownRun": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Run not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The thread does not exist or belongs to another account. */
        "runs.UnknownThread": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Thread not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
    };
    parameters: {
        /** @description `next_cursor` of the previous page. */
        "accounts.Cursor": string;
        /**
         * @description Id of the account.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "accounts.Id": string;
        /** @description Unique key that makes a repeated request safe. Ignored if the body contains `ref`. */
        "accounts.IdempotencyKey": string;
        /**
         * @description Maximum number of items per page.
         * @example 20
         */
        "accounts.Limit": number;
        /** @description `next_cursor` of the previous page. */
        "agents.Cursor": string;
        /**
         * @description Id of the agent.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "agents.Id": string;
        /**
         * @description Maximum number of items per page.
         * @example 20
         */
        "agents.Limit": number;
        /**
         * @description Id of the job, from the list of jobs.
         * @example 4711
         */
        "host.JobId": string;
        /**
         * @description Name of the module, from the list of modules.
         * @example referrals
         */
        "host.ModuleName": string;
        /**
         * @description Id of the node, from the list of nodes.
         * @example 0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11
         */
        "host.NodeId": string;
        /**
         * @description Id of the profile.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "mcp_prebuilt.Id": string;
        /**
         * @description Id of the broadcast: `broadcast_id` in the response of the trigger.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "notifications.BroadcastId": string;
        /** @description `next_cursor` of the previous page. */
        "notifications.Cursor": string;
        /**
         * @description Id of the notification.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "notifications.Id": string;
        /**
         * @description Maximum number of items per page.
         * @example 20
         */
        "notifications.Limit": number;
        /**
         * @description Id of the referral, from the list of referrals under review.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "referrals.Id": string;
        /**
         * @description Maximum number of items per page.
         * @example 20
         */
        "referrals.Limit": number;
        /** @description `next_cursor` of the previous page. */
        "runs.Cursor": string;
        /**
         * @description Maximum number of items per page.
         * @example 20
         */
        "runs.Limit": number;
        /**
         * @description Id of the project: `project_id` in the response of a start.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "runs.ProjectId": string;
        /**
         * @description Id of the run: `agent_run_id` in the response of its start.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "runs.RunId": string;
        /**
         * @description Id of the thread: `thread_id` in the response of the start that created it.
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "runs.ThreadId": string;
    };
    requestBodies: {
        "accounts.Movement": {
            content: {
                /**
                 * @example {
                 *       "credits": 200,
                 *       "reason": "support case",
                 *       "ref": "case-4711"
                 *     }
                 */
                "application/json": {
                    /** @description Number of credits, with at most six decimals. */
                    credits: number;
                    /** @description Reason, recorded in the ledger. */
                    reason?: string | null;
                    /** @description Unique reference that makes a repeated request safe: with the same `ref`, nothing is moved again. Default: the header `Idempotency-Key`. */
                    ref?: string | null;
                };
            };
        };
        "agents.Change": {
            content: {
                /**
                 * @example {
                 *       "system_prompt": "You read twice.",
                 *       "expected_version": 1
                 *     }
                 */
                "application/json": components["schemas"]["agents.Change"];
            };
        };
        "agents.New": {
            content: {
                /**
                 * @example {
                 *       "name": "Researcher",
                 *       "system_prompt": "You read carefully."
                 *     }
                 */
                "application/json": components["schemas"]["agents.New"];
            };
        };
        "notifications.Device": {
            content: {
                /**
                 * @example {
                 *       "device_token": "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]",
                 *       "device_type": "mobile",
                 *       "provider": "expo"
                 *     }
                 */
                "application/json": {
                    /** @description Token of the device from the push provider; for Web Push, the subscription as JSON. */
                    device_token: string;
                    /** @description Type of the device, such as `mobile`. */
                    device_type: string;
                    /** @description Name of the push provider, case-insensitive: one that the orchestrator supports. The built-in orchestrator supports `expo` and `web-push`. */
                    provider: string;
                };
            };
        };
        "notifications.Preferences": {
            content: {
                /**
                 * @example {
                 *       "quiet_hours": {
                 *         "from": "22:00",
                 *         "to": "07:00"
                 *       },
                 *       "workflows": {
                 *         "task-completed": {
                 *           "email": false
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Daily time range in which e-mails and push messages wait. `null` turns quiet hours off. */
                    quiet_hours?: {
                        /** @description Start of the quiet hours, such as `22:00`. */
                        from: string;
                        /** @description End of the quiet hours, such as `07:00`. */
                        to: string;
                    } | null;
                    /** @description Time zone of the quiet hours: a name from the IANA time zone database, such as `Europe/Berlin`. */
                    time_zone?: string | null;
                    /** @description Preferences by workflow id. `null` for a workflow restores its default. */
                    workflows?: {
                        [key: string]: {
                            /** @description Collect notifications for this many minutes and send them as one digest. 0: send each at once. */
                            digest_minutes?: number;
                            /** @description Whether to send e-mails. */
                            email?: boolean;
                            /** @description Whether to add notifications to the inbox. */
                            in_app?: boolean;
                            /** @description For workflows about tasks: send e-mails only for runs that took at least this many minutes. `null`: the server's setting `notifications.task_email_minutes`. */
                            min_minutes?: number | null;
                            /** @description Whether to send push notifications. */
                            push?: boolean;
                        } | null;
                    } | null;
                };
            };
        };
        "notifications.Presence": {
            content: {
                /**
                 * @example {
                 *       "session_id": "tab-1",
                 *       "active_thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Thread that the caller is viewing. `null`: none.
                     */
                    active_thread_id?: string | null;
                    /** @description Id of the browser tab or device, chosen by the client. */
                    session_id: string;
                };
            };
        };
        "notifications.Settings": {
            content: {
                /**
                 * @example {
                 *       "push_enabled": false
                 *     }
                 */
                "application/json": {
                    /** @description Whether to send e-mails. */
                    email_enabled?: boolean | null;
                    /** @description Whether to add notifications to the inbox. */
                    in_app_enabled?: boolean | null;
                    /** @description Whether to send push notifications. */
                    push_enabled?: boolean | null;
                };
            };
        };
        "notifications.Trigger": {
            content: {
                /**
                 * @example {
                 *       "workflow_id": "promotional",
                 *       "payload_template": {
                 *         "title": "Hello {{first_name}}",
                 *         "message": "News"
                 *       },
                 *       "broadcast": true
                 *     }
                 */
                "application/json": {
                    /** @description `true` notifies all accounts. */
                    broadcast?: boolean | null;
                    /** @description For broadcasts: send nothing, and return the size of the audience and a sample. */
                    dry_run?: boolean | null;
                    /** @description Payload of the notification, at most 64 KiB. `{{email}}`, `{{name}}`, `{{first_name}}`, `{{phone}}` and `{{avatar}}` are replaced with the recipient's values; missing values become empty. */
                    payload_template?: {
                        [key: string]: unknown;
                    } | null;
                    /**
                     * Format: date-time
                     * @description For broadcasts: time in UTC at which the broadcast starts. Default: at once.
                     */
                    scheduled_at?: string | null;
                    /** @description E-mail address of the account to notify. */
                    subscriber_email?: string | null;
                    /**
                     * Format: uuid
                     * @description Id of the account to notify.
                     */
                    subscriber_id?: string | null;
                    /** @description For broadcasts: send the notification only to the caller. */
                    test?: boolean | null;
                    /** @description Workflow of the notification, such as `promotional`. */
                    workflow_id: string;
                };
            };
        };
        "notifications.Webhook": {
            content: {
                /**
                 * @example {
                 *       "type": "notification.sent",
                 *       "transactionId": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "subscriberId": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11"
                 *     }
                 */
                "application/json": {
                    /** @description Id of the account that the notification is for. */
                    subscriberId?: unknown;
                    /** @description Id of the notification's transaction. */
                    transactionId?: unknown;
                    /** @description Type of the event. */
                    type?: unknown;
                } | unknown[] | string | number | boolean | null;
            };
        };
        "referrals.Reason": {
            content: {
                /**
                 * @example {
                 *       "reason": "ten accounts of one network"
                 *     }
                 */
                "application/json": {
                    /** @description Reason, recorded in the audit log. */
                    reason?: string;
                };
            };
        };
    };
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "console.first": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to `/console`. */
            303: {
                headers: {
                    /**
                     * @description Address of the console.
                     * @example console
                     */
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.own": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["accounts.Account"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.close_own": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account was deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.NeedsToken"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the account.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["accounts.Account"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the account.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tier": "pro"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Role of the account.
                     * @enum {unknown}
                     */
                    role?: "user" | "admin" | "super_admin" | null;
                    /** @description Plan of the account: the name of a configured tier. */
                    tier?: string | null;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Account"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.close": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the account.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "request of the owner"
                 *     }
                 */
                "application/json": {
                    /** @description Reason, recorded in the audit log. */
                    reason?: string | null;
                };
            };
        };
        responses: {
            /** @description The account was deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.grant": {
        parameters: {
            query?: never;
            header?: {
                /** @description Unique key that makes a repeated request safe. Ignored if the body contains `ref`. */
                "Idempotency-Key"?: components["parameters"]["accounts.IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the account.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["accounts.Movement"];
        responses: {
            /** @description The new balance. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "balance_credits": 700,
                     *       "balance_micro": 700000000,
                     *       "replayed": false
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Balance"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The same `ref` or `Idempotency-Key` was used before with a different amount (`IDEMPOTENCY_KEY_REUSED`). */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "A revoke cannot make the balance negative",
                     *         "balance_credits": 10,
                     *         "balance_micro": 10000000,
                     *         "error_code": "BALANCE_TOO_LOW"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Refused"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.ledger": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["accounts.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["accounts.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the account.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of ledger entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": 12,
                     *           "at": "2026-11-20T09:30:00.000000Z",
                     *           "kind": "usage",
                     *           "ref": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11:1:1",
                     *           "delta_credits": -0.0042,
                     *           "delta_micro": -4200,
                     *           "balance_credits": 499.9958,
                     *           "balance_micro": 499995800,
                     *           "note": {
                     *             "step": 1
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        entries: components["schemas"]["accounts.Entry"][];
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Unique key that makes a repeated request safe. Ignored if the body contains `ref`. */
                "Idempotency-Key"?: components["parameters"]["accounts.IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the account.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["accounts.Movement"];
        responses: {
            /** @description The new balance. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "balance_credits": 700,
                     *       "balance_micro": 700000000,
                     *       "replayed": false
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Balance"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The same `ref` or `Idempotency-Key` was used before with a different amount (`IDEMPOTENCY_KEY_REUSED`), or the balance is too low (`BALANCE_TOO_LOW`). */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "A revoke cannot make the balance negative",
                     *         "balance_credits": 10,
                     *         "balance_micro": 10000000,
                     *         "error_code": "BALANCE_TOO_LOW"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Refused"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.audit": {
        parameters: {
            query?: {
                /** @description Return only actions on this account. */
                account_id?: string;
                /**
                 * @description Return only actions with this name, such as `grant` or `api_key.create`.
                 * @example grant
                 */
                action?: string;
                /** @description Return only actions by this actor: the subject (`sub`) of the actor's token. */
                actor?: string;
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["accounts.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["accounts.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of audit log entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": 3,
                     *           "at": "2026-11-20T09:30:00.000000Z",
                     *           "actor": "0191f2c0-1111-7b7e-9d2b-3c1f5a0e4b11",
                     *           "action": "tier",
                     *           "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "subject": null,
                     *           "detail": {
                     *             "from": "free",
                     *             "to": "pro"
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        entries: {
                            /**
                             * Format: uuid
                             * @description Account that the action concerned. Null if it concerned none.
                             */
                            account_id: string | null;
                            /** @description Name of the action. */
                            action: string;
                            /** @description Subject of the token of the account that acted, or `host:file_change` or `host:SIGHUP` if the server acted by itself. */
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            /** @description Details, which depend on the action. */
                            detail: unknown;
                            id: number;
                            /** @description Subject of the account that the action concerned. Null if it concerned none. */
                            subject: string | null;
                        }[];
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.publish_event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "payment.failed",
                 *       "key": "in_1QabcD",
                 *       "payload": {
                 *         "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "amount": "20.00",
                 *         "currency": "EUR",
                 *         "reason": "The card was declined"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Unique key of the event, such as the payment's id in the billing system. */
                    key: string;
                    /**
                     * @description Kind of the event.
                     * @enum {unknown}
                     */
                    kind: "payment.succeeded" | "payment.failed";
                    /** @description Data of the event. */
                    payload: {
                        /**
                         * Format: uuid
                         * @description Account that the payment belongs to.
                         */
                        account_id: string;
                        /** @description Amount from 0 to 1000000000, with at most six decimals, as a number or a string. */
                        amount: number | string;
                        /** @description Three-letter currency code (ISO 4217). */
                        currency: string;
                        /** @description Name of the plan that was paid for. */
                        plan_name?: string;
                        /** @description Why the payment failed. */
                        reason?: string;
                    };
                };
            };
        };
        responses: {
            /** @description The event was published, by this or an earlier request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "payment.failed",
                     *       "key": "in_1QabcD",
                     *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "event_id": 4711,
                     *       "replayed": false
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        account_id: string;
                        /** @description Id of the event. */
                        event_id: number;
                        key: string;
                        kind: string;
                        /** @description Whether an earlier request with the same key and payload published the event. */
                        replayed: boolean;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The key was used before with a different payload. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "This key was used before with another payload",
                     *         "error_code": "IDEMPOTENCY_KEY_REUSED"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.list_jobs": {
        parameters: {
            query?: {
                /**
                 * @description `next_cursor` of the previous page.
                 * @example 4711
                 */
                cursor?: string;
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description State of the jobs. `ready`: waiting for a node. `running`: in progress. `scheduled`: due later, or waiting for the next attempt. `dead`: all attempts failed. Case-insensitive.
                 * @example dead
                 */
                state?: ("ready" | "running" | "dead" | "scheduled") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of jobs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobs": [
                     *         {
                     *           "id": 4711,
                     *           "kind": "mail.send",
                     *           "queue": "mail",
                     *           "attempts": 20,
                     *           "max_attempts": 20,
                     *           "crashes": 0,
                     *           "node": null,
                     *           "enqueued_at": "2026-11-20T09:30:00.000Z",
                     *           "run_at": "2026-11-20T11:02:13.481Z",
                     *           "last_error": "mail.relay: no answer within 30 s"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["host.Jobs"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.discard_job": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the job, from the list of jobs.
                 * @example 4711
                 */
                id: components["parameters"]["host.JobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["host.Done"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.retry_job": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the job, from the list of jobs.
                 * @example 4711
                 */
                id: components["parameters"]["host.JobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["host.Done"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description State of the e-mails, case-insensitive. `sent`: accepted by the mail relay. `refused`: permanently rejected by the relay. `dead`: all delivery attempts failed. `suppressed`: not sent, because the address is suppressed.
                 * @example dead
                 */
                state?: ("sent" | "refused" | "dead" | "suppressed") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of e-mails. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messages": [
                     *         {
                     *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "category": "account",
                     *           "address": "ann@example.org",
                     *           "state": "dead",
                     *           "attempts": 12,
                     *           "maybe_duplicate": false,
                     *           "reply": "451 4.7.1 Greylisted",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "ended_at": "2026-11-21T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        messages: {
                            address: string;
                            /** @description Number of delivery attempts. */
                            attempts: number;
                            /** @description Category of the e-mail; recipients unsubscribe per category. */
                            category: string;
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            ended_at: string | null;
                            /** Format: uuid */
                            id: string;
                            /** @description Whether the recipient may have received the e-mail twice, because the connection was lost after the complete message had been sent. */
                            maybe_duplicate: boolean;
                            /** @description The relay's latest reply. */
                            reply: string | null;
                            /** @enum {unknown} */
                            state: "sent" | "refused" | "dead" | "suppressed";
                        }[];
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.requeue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the e-mail.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The e-mail was queued and is sent at once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        state: "queued";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.suppressions": {
        parameters: {
            query?: {
                /**
                 * @description Return only suppressions of this address.
                 * @example ann@example.org
                 */
                address?: string;
                /**
                 * @description Return only suppressions of this category of e-mail; `*` means all e-mail.
                 * @example *
                 */
                category?: string;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Return only addresses that are suppressed for this reason. `bounced`: the relay reported that the address does not exist. `unsubscribed`: the recipient unsubscribed. `operator`: an operator blocked the address. Case-insensitive.
                 * @example bounced
                 */
                reason?: ("bounced" | "unsubscribed" | "operator") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of suppressed addresses. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "suppressions": [
                     *         {
                     *           "address": "ann@example.org",
                     *           "category": "*",
                     *           "reason": "bounced",
                     *           "detail": "550 5.1.1 No such user",
                     *           "since": "2026-11-20T09:30:00.000Z",
                     *           "expires_at": "2027-02-18T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                        suppressions: {
                            address: string;
                            /** @description Suppressed category; `*` means all e-mail. */
                            category: string;
                            /** @description The relay's reply. */
                            detail: string | null;
                            /**
                             * Format: date-time
                             * @description Time at which the suppression ends by itself. Null if it does not.
                             */
                            expires_at: string | null;
                            /** @enum {unknown} */
                            reason: "bounced" | "unsubscribed" | "operator";
                            /** Format: date-time */
                            since: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.lift": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The e-mail address.
                 * @example ann@example.org
                 */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description E-mail to the address is allowed again. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.lift_many": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "domain": "example.org",
                 *       "since": "2026-11-20T09:30:00Z"
                 *     }
                 */
                "application/json": {
                    /** @description Lift only suppressions of these addresses, at most 1000. */
                    addresses?: string[] | null;
                    /** @description Lift only suppressions of addresses in this domain and its subdomains. */
                    domain?: string | null;
                    /**
                     * @description Lift only suppressions with this reason.
                     * @default bounced
                     * @enum {unknown}
                     */
                    reason?: "bounced" | "operator" | null;
                    /**
                     * Format: date-time
                     * @description Lift only suppressions created at or after this time.
                     */
                    since?: string | null;
                    /**
                     * Format: date-time
                     * @description Lift only suppressions created before this time.
                     */
                    until?: string | null;
                };
            };
        };
        responses: {
            /** @description The suppressions were lifted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lifted": 12
                     *     }
                     */
                    "application/json": {
                        /** @description Number of suppressions that were lifted. */
                        lifted: number;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.try_call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "http",
                 *       "config": {
                 *         "url": "https://mcp.example.org/mcp"
                 *       },
                 *       "tool": "search",
                 *       "arguments": {
                 *         "query": "agents"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.Call"];
            };
        };
        responses: {
            /** @description The result as the server sent it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "content": [
                     *         {
                     *           "type": "text",
                     *           "text": "Three pages"
                     *         }
                     *       ],
                     *       "isError": false
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "mcp.try_tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "http",
                 *       "config": {
                 *         "url": "https://mcp.example.org/mcp"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.Question"];
            };
        };
        responses: {
            /** @description The tools of the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_name": "docs",
                     *       "instructions": "",
                     *       "tools": [
                     *         {
                     *           "name": "search",
                     *           "description": "Finds pages",
                     *           "parameters": {
                     *             "type": "object"
                     *           },
                     *           "read_only": true,
                     *           "hash": "9a0364b9"
                     *         }
                     *       ],
                     *       "left_out": []
                     *     }
                     */
                    "application/json": {
                        /** @description The server's instructions for the model. */
                        instructions: string;
                        /** @description Tools that cannot be used and were omitted. */
                        left_out: components["schemas"]["mcp.Names"];
                        /** @description Name that the server reports. */
                        server_name: string;
                        tools: {
                            description: string;
                            /** @description Hash of the tool's definition. */
                            hash: string;
                            name: string;
                            /** @description JSON Schema of the arguments, as the server sent it. */
                            parameters: unknown;
                            /** @description Whether the server states that the tool changes nothing. */
                            read_only: boolean;
                        }[];
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "host.list_modules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Loaded modules in order of their start, then disabled and refused ones. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.Module"][];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.disable_module": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the module, from the list of modules.
                 * @example referrals
                 */
                name: components["parameters"]["host.ModuleName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The module was disabled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.ModuleChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "host.enable_module": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the module, from the list of modules.
                 * @example referrals
                 */
                name: components["parameters"]["host.ModuleName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The module was enabled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.ModuleChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "host.reload_module": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the module, from the list of modules.
                 * @example referrals
                 */
                name: components["parameters"]["host.ModuleName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The module was reloaded. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.ModuleChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "host.list_nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The nodes, longest running first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.Node"][];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.drain_node": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the node, from the list of nodes.
                 * @example 0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11
                 */
                id: components["parameters"]["host.NodeId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The node will take no more jobs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11",
                     *       "state": "draining",
                     *       "running": 12
                     *     }
                     */
                    "application/json": components["schemas"]["host.NodeChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.undrain_node": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the node, from the list of nodes.
                 * @example 0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11
                 */
                id: components["parameters"]["host.NodeId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The node will take jobs again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11",
                     *       "state": "active",
                     *       "running": 0
                     *     }
                     */
                    "application/json": components["schemas"]["host.NodeChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.all": {
        parameters: {
            query?: {
                /** @description Return only notifications to this account. */
                account_id?: string;
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
                /**
                 * @description Return only notifications in this state. Case-insensitive. Empty or absent: all notifications.
                 * @example dead
                 */
                status?: ("" | "queued" | "gathered" | "sent" | "suppressed" | "failed" | "dead" | "cancelled") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.All"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.one": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.One"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Again"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.requeue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Again"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.broadcasts": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Broadcasts"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the broadcast: `broadcast_id` in the response of the trigger.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Broadcast"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.cancel_broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the broadcast: `broadcast_id` in the response of the trigger.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Steered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.pause_broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the broadcast: `broadcast_id` in the response of the trigger.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Steered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.resume_broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the broadcast: `broadcast_id` in the response of the trigger.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Steered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Trigger"];
        responses: {
            200: components["responses"]["notifications.Triggered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Queues in order of their names, nodes in order of their start. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "queues": [
                     *         {
                     *           "queue": "runs",
                     *           "ready": 0,
                     *           "scheduled": 2,
                     *           "running": 17,
                     *           "dead": 0,
                     *           "oldest_ready_seconds": 0
                     *         }
                     *       ],
                     *       "nodes": [
                     *         {
                     *           "id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d",
                     *           "this": true,
                     *           "started_at": "2026-11-20T09:30:00.000Z",
                     *           "running": 17
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["host.Queues"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.flagged": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["referrals.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of referrals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referrals": [
                     *         {
                     *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "referrer_id": "0191f2c0-0000-7b7e-9d2b-3c1f5a0e4b11",
                     *           "referred_account_id": "0191f2c0-1111-7b7e-9d2b-3c1f5a0e4b11",
                     *           "referral_code": "K7QX4MPA",
                     *           "referred_at": "2026-11-20T09:30:00.000Z",
                     *           "signals": [
                     *             "same_network"
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                        referrals: {
                            /** Format: uuid */
                            id: string;
                            referral_code: string;
                            /**
                             * Format: uuid
                             * @description Account that used the code.
                             */
                            referred_account_id: string;
                            /** Format: date-time */
                            referred_at: string;
                            /**
                             * Format: uuid
                             * @description Account that owns the code.
                             */
                            referrer_id: string;
                            /** @description Indications of abuse that caused the review. */
                            signals: unknown;
                        }[];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.flag": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the referral, from the list of referrals under review.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["referrals.Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            200: components["responses"]["referrals.Reviewed"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.release": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the referral, from the list of referrals under review.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["referrals.Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            200: components["responses"]["referrals.Reviewed"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the referral, from the list of referrals under review.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["referrals.Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            200: components["responses"]["referrals.Reviewed"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The referral code.
                 * @example K7QX4MPA
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            /** @description The code was resumed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "referral_code": "K7QX4MPA",
                     *       "action": "resume"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        action: "resume";
                        referral_code: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.suspend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The referral code.
                 * @example K7QX4MPA
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            /** @description The code was suspended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "referral_code": "K7QX4MPA",
                     *       "action": "suspend"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        action: "suspend";
                        referral_code: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.live": {
        parameters: {
            query?: {
                /** @description Return only runs of this account. */
                account_id?: string;
                /** @description Return only runs of this agent. */
                agent_id?: string;
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["runs.Cursor"];
                /** @description Return only runs that ended with this error code, such as `RUN_TIMEOUT`. */
                error_code?: string;
                /** @description Return only runs that started at or after this time: a date (`2026-11-20`) or a time (`2026-11-20T09:30:00Z`). */
                from?: string;
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
                /** @description Return only runs that use this model. */
                model?: string;
                /** @description Return only runs that ended for this reason, such as `llm_error`. */
                reason?: string;
                /** @description Return only runs with this status; `all` returns runs with any status. Case-insensitive. */
                status?: ("all" | "running" | "completed" | "failed" | "stopped") | string;
                /** @description Return only runs of this thread. */
                thread_id?: string;
                /** @description Return only runs that started before this time, in the format of `from`. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runs": [
                     *         {
                     *           "agent_run_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d",
                     *           "thread_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7e",
                     *           "account_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7f",
                     *           "agent_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c71",
                     *           "model": "runyard/basic",
                     *           "status": "running",
                     *           "reason": null,
                     *           "error": null,
                     *           "error_code": null,
                     *           "waiting": false,
                     *           "steps": 2,
                     *           "started_at": "2026-11-20T09:30:00.000Z",
                     *           "completed_at": null,
                     *           "node": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c70",
                     *           "crashes": 0
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                        runs: {
                            /** Format: uuid */
                            account_id: string;
                            /** Format: uuid */
                            agent_id: string;
                            /** Format: uuid */
                            agent_run_id: string;
                            /** Format: date-time */
                            completed_at: string | null;
                            /** @description Number of nodes that crashed or disappeared while they executed the run. */
                            crashes: number;
                            /** @description Error message as the owner of the run sees it. */
                            error: string | null;
                            /** @description Error code of a failed run, such as `RUN_TIMEOUT`. */
                            error_code: string | null;
                            /** @description Model in the form `<provider>/<model>`. */
                            model: string;
                            /**
                             * Format: uuid
                             * @description Id of the node that executes the run. Null if no node is executing it at the moment.
                             */
                            node: string | null;
                            /** @description Why the run ended; see the schema `Reason`. Null while the run is in progress. */
                            reason: string | null;
                            /** Format: date-time */
                            started_at: string;
                            /** @enum {unknown} */
                            status: "running" | "completed" | "failed" | "stopped";
                            /** @description Number of completed model answers. */
                            steps: number;
                            /** Format: uuid */
                            thread_id: string;
                            /** @description Whether the run is waiting for a free slot or for an earlier run of its thread. */
                            waiting: boolean;
                        }[];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.adminRun": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run.
                 * @example 0190b1e4-0000-7000-8000-000000000001
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_run_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d",
                     *       "account_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7f",
                     *       "thread_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7e",
                     *       "agent_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c71",
                     *       "model": "runyard/basic",
                     *       "status": "failed",
                     *       "reason": "llm_error",
                     *       "error": "The model provider refused the request",
                     *       "error_code": "LLM_ERROR",
                     *       "steps": 0,
                     *       "started_at": "2026-11-20T09:30:00.000Z",
                     *       "completed_at": "2026-11-20T09:30:01.000Z",
                     *       "stop_requested_at": null,
                     *       "timeout_seconds": 3000,
                     *       "node": null,
                     *       "crashes": 0,
                     *       "usage": {
                     *         "input_tokens": 0,
                     *         "output_tokens": 0,
                     *         "cached_tokens": 0,
                     *         "credits": 0
                     *       },
                     *       "causes": [
                     *         {
                     *           "at": "2026-11-20T09:30:00.900Z",
                     *           "step": 1,
                     *           "text": "provider main: The model provider refused the request (status 400)"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        account_id: string;
                        /** Format: uuid */
                        agent_id: string;
                        /** Format: uuid */
                        agent_run_id: string;
                        /** @description The last errors of providers and of the server, at most ten. Only admins see them. */
                        causes: {
                            /** Format: date-time */
                            at: string;
                            /** @description Step of the run in which the error occurred. */
                            step: number;
                            /** @description Error message with internal details. */
                            text: string;
                        }[];
                        /** Format: date-time */
                        completed_at: string | null;
                        /** @description Number of nodes that crashed or disappeared while they executed the run. */
                        crashes: number;
                        /** @description Duration of the run from its start to its end, in milliseconds. Null while the run is in progress. */
                        duration_ms?: number | null;
                        /** @description Error message as the owner of the run sees it. */
                        error: string | null;
                        /** @description Error code of a failed run, such as `RUN_TIMEOUT`. */
                        error_code: string | null;
                        /**
                         * Format: uuid
                         * @description Same as `agent_run_id`.
                         */
                        id?: string;
                        /** @description Whether the agent gets information from outside the thread. */
                        memory_enabled?: boolean;
                        /**
                         * @description Execution mode of the run.
                         * @enum {unknown}
                         */
                        mode?: "agent" | "chat" | "code";
                        /** @description Model in the form `<provider>/<model>`. */
                        model: string;
                        /** @description Same as `model`. */
                        model_name?: string;
                        /**
                         * Format: uuid
                         * @description Id of the node that executes the run. Null if no node is executing it at the moment.
                         */
                        node: string | null;
                        /** @description Model parameters given at the start, such as `temperature`. Null if there were none. */
                        parameters?: Record<string, never> | null;
                        /** Format: uuid */
                        project_id?: string;
                        /** @description Position in the queue, starting at 1. Null unless the run is waiting. */
                        queue_position?: number | null;
                        /** @description Time that the run waited before it began, in milliseconds. */
                        queue_wait_ms?: number | null;
                        /** @description Why the run ended; see the schema `Reason`. Null while the run is in progress. */
                        reason: string | null;
                        /** Format: date-time */
                        started_at: string;
                        /** @enum {unknown} */
                        status: "running" | "completed" | "failed" | "stopped";
                        /** @description Number of completed model answers. */
                        steps: number;
                        /**
                         * Format: date-time
                         * @description Time at which the stop of the run was requested. Null if it was not.
                         */
                        stop_requested_at: string | null;
                        /** Format: uuid */
                        thread_id: string;
                        /** @description Time from the start of the run to the first text of the model, in milliseconds. Null if there was none. */
                        time_to_first_token_ms?: number | null;
                        /** @description Time limit of the run, in seconds. */
                        timeout_seconds: number;
                        /** @description Tokens and credits used by the run so far. */
                        usage: Record<string, never>;
                        /** @description Whether the run is waiting for a free slot or for an earlier run of its thread. */
                        waiting?: boolean;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "webhooks.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receivers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "endpoints": [
                     *         {
                     *           "name": "billing",
                     *           "url": "https://example.com/hooks",
                     *           "events": [
                     *             "credits.*"
                     *           ],
                     *           "delivered": 12,
                     *           "last_success_at": "2026-11-20T09:30:00.000Z",
                     *           "failing_since": null,
                     *           "last_error": null,
                     *           "disabled_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        endpoints: components["schemas"]["webhooks.Endpoint"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "webhooks.enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the receiver in the settings.
                 * @example billing
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receiver is enabled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the receiver in the settings.
                 * @example billing
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message will be sent. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "test_0193494e-7c00-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the message: its `webhook-id` header. */
                        id: string;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.status": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Stopped"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.stream": {
        parameters: {
            query?: {
                /** @description Merge consecutive chunks of the same kind that arrive within this time into one event. In milliseconds; 0 sends each chunk at once. */
                coalesce_ms?: number;
                /** @description Same as the `Last-Event-ID` header, for clients that cannot set headers. The header takes precedence. */
                last_event_id?: number;
                /** @description Alias of `last_event_id`. */
                last_id?: number;
                /** @description `events`: send every event. `snapshot`: send one event that contains the state so far, then live events. Case-insensitive. */
                mode?: ("events" | "snapshot") | string;
            };
            header?: {
                /**
                 * @description Sequence number of the last event that the client has received. Default: 0, which returns all events.
                 * @example 41
                 */
                "Last-Event-ID"?: number;
            };
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 1
                     *     data: {"type": "status", "sequence": 1, "status": "running"}
                     *
                     *     id: 2
                     *     data: {"type": "llm_response_start", "sequence": 2, "step": 1, "attempt": 1, "model": "mock/basic"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The run has ended and the client has already received the terminal event. `EventSource` stops reconnecting. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "runs.stream_token": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "c3RyZWFt",
                     *       "expires_in": 3600
                     *     }
                     */
                    "application/json": {
                        /** @description Time until the token expires, in seconds. */
                        expires_in: number;
                        /** @description Value for the query parameter `token` of the stream. */
                        token: string;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
                /**
                 * @description Return only runs with this status. Case-insensitive. Empty or absent: all runs.
                 * @example running
                 */
                status?: ("" | "running" | "completed" | "failed" | "stopped") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Runs"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.get_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.status_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.stop_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` in the response of its start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Stopped"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The active runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "active_runs": []
                     *     }
                     */
                    "application/json": {
                        active_runs: components["schemas"]["runs.Run"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.start": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Unique key for this start, chosen by the client: UTF-8, at most 255 bytes. The key is valid for 24 hours, even if the thread is deleted. Using it again with different fields returns 409.
                 * @example 5b0e1f9c-start-1
                 */
                "Idempotency-Key"?: string;
                /** @description `true` adds `timing_breakdown` to the response. Only super admins can use it; the header has no effect for other callers. */
                "X-Emit-Timing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The form fields of the start. Send `multipart/form-data` to upload files. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "prompt": "What is new"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["runs.StartForm"];
                /**
                 * @example {
                 *       "prompt": "What changed in the log since yesterday",
                 *       "model_name": "runyard/basic"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["runs.StartForm"];
            };
        };
        responses: {
            /** @description The run has started, or it is waiting for a slot (see `queue_position`). */
            200: {
                headers: {
                    /** @description Present if this is the response of an earlier start with the same `Idempotency-Key`. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Time spent on setup and validation, in milliseconds: `setup;dur=12.3`. */
                    "Server-Timing"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "project_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "status": "running"
                     *     }
                     */
                    "application/json": components["schemas"]["runs.Started"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The account's credits, plan or limits do not allow the run. `error_code` is `INSUFFICIENT_CREDITS`, `MODEL_ACCESS_DENIED`, `AGENT_RUN_LIMIT_EXCEEDED` or `THREAD_LIMIT_EXCEEDED`. */
            402: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["runs.NotAllowed"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            /** @description The thread, project or agent does not exist or belongs to another account. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "Thread not found"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The thread already has a run in progress (`THREAD_BUSY`), or the `Idempotency-Key` was used before with different fields. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "The thread has a run in progress",
                     *         "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *         "error_code": "THREAD_BUSY"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            /** @description The uploaded files exceed the limits of the account's plan or of the server (`UPLOAD_TOO_LARGE`). */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "A file is larger than your plan allows (10.0 MB)",
                     *         "limit": 10485760,
                     *         "error_code": "UPLOAD_TOO_LARGE"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            /** @description The run could not be started because of an internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "Failed to start agent: internal error"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
            /** @description The server has no disk space to store the upload. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "No disk space to store the upload"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
        };
    };
    "agents.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["agents.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["agents.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of agents. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        agents: components["schemas"]["agents.Agent"][];
                        next_cursor: components["schemas"]["agents.NextCursor"];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["agents.New"];
        responses: {
            /** @description The new agent. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents.Agent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["agents.TooManyServers"];
            403: components["responses"]["agents.NoServers"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.discover": {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `no-cache` queries the server instead of using the cached list.
                 * @example no-cache
                 */
                "Cache-Control"?: string;
                /**
                 * @description JSON object of headers to send to the server.
                 * @example {"Authorization": "Bearer abc"}
                 */
                "X-MCP-Headers"?: string;
                /**
                 * @description Type of the server. Default: `sse`.
                 * @example http
                 */
                "X-MCP-Type"?: components["schemas"]["mcp.Type"];
                /**
                 * @description URL of the server, or the id of an integration profile. For `json`: the name of the agent's configuration.
                 * @example https://mcp.example.org/mcp
                 */
                "X-MCP-URL": string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tools of the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tools": [
                     *         {
                     *           "name": "search",
                     *           "description": "Finds pages",
                     *           "enabled": true
                     *         }
                     *       ],
                     *       "has_mcp_config": true,
                     *       "server_type": "http",
                     *       "server_url": "https://mcp.example.org/mcp"
                     *     }
                     */
                    "application/json": {
                        /** @description Whether the agent already has this server. */
                        has_mcp_config: boolean;
                        server_type: components["schemas"]["mcp.Type"];
                        /** @description URL or identifier from the request. */
                        server_url: string;
                        tools: {
                            description: string;
                            /** @description Whether the tool is enabled for this agent. */
                            enabled: boolean;
                            name: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "mcp.replace": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "custom_mcps": [
                 *         {
                 *           "name": "Docs",
                 *           "type": "http",
                 *           "config": {
                 *             "url": "https://mcp.example.org/mcp",
                 *             "headers": {
                 *               "Authorization": "Bearer abc"
                 *             }
                 *           },
                 *           "enabledTools": [
                 *             "search"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The new list of MCP servers. */
                    custom_mcps?: components["schemas"]["mcp.ServerIn"][];
                    /** @description Alias of `custom_mcps`. */
                    customMcps?: components["schemas"]["mcp.ServerIn"][];
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description The new list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "custom_mcps": [
                     *           {
                     *             "name": "Docs",
                     *             "type": "http",
                     *             "config": {
                     *               "url": "https://mcp.example.org/mcp",
                     *               "headers": {
                     *                 "Authorization": "********"
                     *               }
                     *             },
                     *             "enabledTools": [
                     *               "search"
                     *             ]
                     *           }
                     *         ],
                     *         "total_enabled_tools": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @description The MCP servers, with masked secrets. */
                            custom_mcps: components["schemas"]["mcp.Server"][];
                            /** @description Number of enabled tools of all servers. */
                            total_enabled_tools: number;
                        };
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["mcp.TooManyServers"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://mcp.example.org/mcp",
                 *       "type": "http",
                 *       "enabled_tools": [
                 *         "search"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Names of the tools to enable. They replace the enabled tools of this server. */
                    enabled_tools?: components["schemas"]["mcp.Names"];
                    /** @description Alias of `enabled_tools`. */
                    enabledTools?: components["schemas"]["mcp.Names"];
                    /** @description Headers for the requests to the server, stored encrypted. Default: those of the request header `X-MCP-Headers`. */
                    headers?: {
                        [key: string]: string;
                    };
                    /** @description Type of the server. Default: `sse`. */
                    type?: components["schemas"]["mcp.Type"];
                    /** @description URL of the server, or the id of an integration profile. */
                    url: string;
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description The tools were enabled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "enabled_tools": [
                     *         "search"
                     *       ],
                     *       "total_tools": 1
                     *     }
                     */
                    "application/json": {
                        /** @description Names of the tools that are now enabled. */
                        enabled_tools: components["schemas"]["mcp.Names"];
                        /** @constant */
                        success: true;
                        /** @description Number of enabled tools of this server. */
                        total_tools: number;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["mcp.TooManyServers"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.changed_definitions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changed definitions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "server": "Docs",
                     *           "tool": "search",
                     *           "changed": [
                     *             "description"
                     *           ],
                     *           "on_tool_change": "ask",
                     *           "description": "Finds pages and sends them by mail",
                     *           "parameters": {
                     *             "type": "object"
                     *           },
                     *           "read_only": false,
                     *           "fingerprint": "0f1e.2d3c.4b5a.6978"
                     *         }
                     *       ],
                     *       "unreachable": []
                     *     }
                     */
                    "application/json": {
                        changes: {
                            /** @description Parts of the definition that have changed. */
                            changed: ("description" | "parameters" | "result" | "annotations")[];
                            /** @description Current description of the tool. */
                            description: string;
                            /** @description Fingerprint of the current definition; send it to approve this definition. */
                            fingerprint: string;
                            /** @enum {unknown} */
                            on_tool_change: "ask" | "block";
                            /** @description Current JSON Schema of the tool's arguments. */
                            parameters: unknown;
                            /** @description Whether the server states that the tool changes nothing. */
                            read_only: boolean;
                            /** @description Name of the server in the agent's list. */
                            server: string;
                            /** @description Name of the tool. */
                            tool: string;
                        }[];
                        /** @description Servers that could not be reached. */
                        unreachable: string[];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.approve_definition": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "server": "Docs",
                 *       "tool": "search",
                 *       "fingerprint": "0f1e.2d3c.4b5a.6978"
                 *     }
                 */
                "application/json": {
                    /** @description `fingerprint` from the list of changes. */
                    fingerprint: string;
                    /** @description Name of the server in the agent's list. */
                    server: string;
                    /** @description Name of the tool. */
                    tool: string;
                };
            };
        };
        responses: {
            /** @description The definition was approved. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The definition has changed again since the list of changes was requested. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "fingerprint does not match the current definition of the tool; request the list of changes again"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "agents.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents.Agent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["agents.Unknown"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["agents.Change"];
        responses: {
            /** @description The updated agent. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents.Agent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["agents.TooManyServers"];
            403: components["responses"]["agents.NoServers"];
            404: components["responses"]["agents.Unknown"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The agent's current version is not `expected_version`. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The agent was changed meanwhile: its version is 4"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent was deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["agents.Unknown"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The agent is the account's default agent. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The default agent cannot be deleted"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.versions": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["agents.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["agents.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of versions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "versions": [
                     *         {
                     *           "agent_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "version": 2,
                     *           "name": "Researcher",
                     *           "description": "Reads and sums up",
                     *           "system_prompt": "You read carefully.",
                     *           "model_name": null,
                     *           "custom_mcps": [],
                     *           "is_current": true,
                     *           "created_at": "2026-11-21T11:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        next_cursor: components["schemas"]["agents.NextCursor"];
                        versions: components["schemas"]["agents.Version"][];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["agents.Unknown"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.list_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_keys": [
                     *         {
                     *           "id": "4f2a9c0d1e3b5a67",
                     *           "name": "ci",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "expires_at": null,
                     *           "last_used_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        api_keys: components["schemas"]["accounts.ApiKey"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.create_key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "ci",
                 *       "expires_in_days": 90
                 *     }
                 */
                "application/json": {
                    /** @description Number of days after which the key expires. Default: it does not expire. */
                    expires_in_days?: number | null;
                    /**
                     * @description Name of the key.
                     * @default API key
                     */
                    name?: string | null;
                };
            };
        };
        responses: {
            /** @description The API key was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4f2a9c0d1e3b5a67",
                     *       "name": "ci",
                     *       "created_at": "2026-11-20T09:30:00.000Z",
                     *       "expires_at": "2027-02-18T09:30:00.000Z",
                     *       "key": "ry_4f2a9c0d1e3b5a67_c2VjcmV0"
                     *     }
                     */
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        /**
                         * Format: date-time
                         * @description Time at which the key expires. Null if it does not expire.
                         */
                        expires_at: string | null;
                        /** @description Id of the key, used to revoke it. */
                        id: string;
                        /** @description The key, to be sent as `Authorization: Bearer`. */
                        key: string;
                        name: string;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.NeedsToken"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.revoke_key": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the key, from the list of keys; not the key itself.
                 * @example 4f2a9c0d1e3b5a67
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key was revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.NeedsToken"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.deliveries_alias": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Deliveries"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.devices_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Devices"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.add_device_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Device"];
        responses: {
            200: components["responses"]["notifications.Said"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.drop_device_alias": {
        parameters: {
            query?: {
                /**
                 * @description Name of the push provider, case-insensitive. Default: the device is removed for every provider.
                 * @example expo
                 */
                provider?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The registered device token, or the `id` of a listed device, percent-encoded.
                 * @example ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]
                 */
                device_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Said"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox_alias": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
                /** @description `true` returns only unread notifications. Case-insensitive. */
                unread?: ("true" | "false") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Inbox"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read_all_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox_stream_alias": {
        parameters: {
            query?: {
                /** @description Same as the `Last-Event-ID` header, for clients that cannot set headers. */
                last_event_id?: number;
            };
            header?: {
                /** @description Resume after the event with this id. Default: send only new events. */
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Stream"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "notifications.inbox_stream_token_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Token"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.unread_count_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.UnreadCount"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.preferences_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Preferences"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_preferences_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Preferences"];
        responses: {
            200: components["responses"]["notifications.ChangedPreferences"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.settings_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Settings"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_settings_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Settings"];
        responses: {
            200: components["responses"]["notifications.ChangedSettings"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.web_push_key_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.WebPushKey"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.webhook_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the orchestrator driver, or `orchestrator`.
                 * @example orchestrator
                 */
                orchestrator: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Webhook"];
        responses: {
            200: components["responses"]["notifications.Ok"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.presence_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Presence"];
        responses: {
            200: components["responses"]["notifications.Done"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The referral code. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referral_code": "K7QX4MPA",
                     *       "referral_link": "https://app.example.org/auth?ref=K7QX4MPA"
                     *     }
                     */
                    "application/json": {
                        referral_code: string;
                        /** @description Link to the sign-up page with the code. Null if the deployment has no public URL. */
                        referral_link: string | null;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.history": {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["referrals.Limit"];
                /**
                 * @description Number of referrals to skip, counted from the newest.
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The referrals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *         "referrer_id": "0191f2c0-0000-7b7e-9d2b-3c1f5a0e4b11",
                     *         "referral_code": "K7QX4MPA",
                     *         "referred_account_id": "0191f2c0-1111-7b7e-9d2b-3c1f5a0e4b11",
                     *         "referred_at": "2026-11-20T09:30:00.000Z",
                     *         "status": "successful",
                     *         "credits_awarded": 100,
                     *         "reason": null,
                     *         "message": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["referrals.Referral"][];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The referral, or null if the account did not use a code. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "received": {
                     *         "status": "pending",
                     *         "referred_at": "2026-11-20T09:30:00.000Z",
                     *         "credits": 0,
                     *         "bonus_credits": 100,
                     *         "reason": "not_qualified",
                     *         "message": "Confirm your e-mail address to receive your credits"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description The referral through which the caller signed up. Null if there is none. */
                        received: {
                            /** @description Credits that the caller will receive when the referral succeeds. */
                            bonus_credits?: number;
                            /** @description Credits received so far. */
                            credits?: number;
                            /** @description The reason as a sentence. */
                            message?: string | null;
                            /** @description Why the credits are not received yet, or will not be: `not_qualified`, `on_hold`, `under_review`, `cap_reached`, `same_mailbox` or `void`. Null if the referral was successful. */
                            reason?: string | null;
                            /** Format: date-time */
                            referred_at?: string;
                            /** @enum {unknown} */
                            status?: "pending" | "successful";
                        } | null;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The code was replaced. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "old_code": "K7QX4MPA",
                     *       "new_code": "9FWT2HNC",
                     *       "message": "Referral code refreshed"
                     *     }
                     */
                    "application/json": {
                        message: string;
                        new_code: string;
                        old_code: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The caller's code is suspended. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This referral code is suspended"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "friend@example.org"
                 *     }
                 */
                "application/json": {
                    /** @description E-mail address to invite. */
                    email: string;
                };
            };
        };
        responses: {
            /** @description The result. `success` is true if the mail server accepted the e-mail, or has not answered yet (`Referral email queued: ...`). If it permanently rejected the e-mail, `message` is `Failed to send email`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "Referral email sent"
                     *     }
                     */
                    "application/json": components["schemas"]["referrals.Sent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The caller's code is suspended. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This referral code is suspended"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.send_bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "emails": [
                 *         "friend@example.org",
                 *         "other@example.org"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description E-mail addresses to invite. */
                    emails: string[];
                };
            };
        };
        responses: {
            /** @description The result for each address. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "Sent 1 of 2 invitations",
                     *       "results": [
                     *         {
                     *           "email": "friend@example.org",
                     *           "success": true,
                     *           "message": "Referral email sent"
                     *         },
                     *         {
                     *           "email": "no address",
                     *           "success": false,
                     *           "message": "Invalid email address"
                     *         }
                     *       ],
                     *       "success_count": 1,
                     *       "total_count": 2
                     *     }
                     */
                    "application/json": {
                        /** @description Summary of how many e-mails were sent or queued. */
                        message: string;
                        results: {
                            email: string;
                            /** @description Result for this address. */
                            message: string;
                            success: boolean;
                        }[];
                        /** @description Whether at least one e-mail was sent or queued. */
                        success: boolean;
                        /** @description Number of e-mails that were sent or queued. */
                        success_count: number;
                        /** @description Number of addresses in the request. */
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The caller's code is suspended. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This referral code is suspended"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statistics. Amounts are platform credits; 100 credits are one dollar. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referral_code": "K7QX4MPA",
                     *       "total_referrals": 3,
                     *       "successful_referrals": 2,
                     *       "total_credits_earned": 200,
                     *       "remaining_earnable_credits": 9800,
                     *       "max_earnable_credits": 10000,
                     *       "has_reached_limit": false,
                     *       "last_referral_at": "2026-11-20T09:30:00.000Z",
                     *       "revoked_credits": 0
                     *     }
                     */
                    "application/json": {
                        /** @description Whether the cap is reached. */
                        has_reached_limit: boolean;
                        /**
                         * Format: date-time
                         * @description Time of the latest referral. Null if there is none.
                         */
                        last_referral_at: string | null;
                        /** @description Cap on the credits that an account can earn. */
                        max_earnable_credits: number;
                        referral_code: string | null;
                        /** @description Credits that can still be earned before the cap. */
                        remaining_earnable_credits: number;
                        /** @description Credits that were revoked. */
                        revoked_credits: number;
                        /** @description Number of referrals that earned credits. */
                        successful_referrals: number;
                        /** @description Credits earned so far. */
                        total_credits_earned: number;
                        /** @description Number of referrals, including pending ones. */
                        total_referrals: number;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "k7qx4mpa"
                 *     }
                 */
                "application/json": {
                    /** @description The code, case-insensitive. */
                    code: string;
                };
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "referrer_id": "0191f2c0-0000-7b7e-9d2b-3c1f5a0e4b11"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Present if the owner of the code has reached the cap: a new account receives no credits.
                         * @constant
                         */
                        credits?: 0;
                        /**
                         * Format: uuid
                         * @description Account of the code's owner. For unauthenticated requests, an id derived from the code instead of the account id. Null if the code is invalid.
                         */
                        referrer_id: string | null;
                        /** @description Whether the code can be used to sign up. */
                        valid: boolean;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.auth_page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The page has not changed since the version that the client has cached. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.login_config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The log-in configuration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "local_login": true,
                     *       "verify": "email",
                     *       "min_password": 10
                     *     }
                     */
                    "application/json": {
                        /** @description Whether accounts can sign up and log in with e-mail address and password. */
                        local_login: boolean;
                        /** @description Minimum length of a password in characters. */
                        min_password?: number;
                        /**
                         * @description Present if no account exists yet: the first sign-up requires the setup code.
                         * @constant
                         */
                        setup?: true;
                        /**
                         * @description Whether an e-mail address must be confirmed after a sign-up.
                         * @enum {unknown}
                         */
                        verify?: "email" | "none";
                    };
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.log_in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ann@example.org",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    /** @description E-mail address. */
                    email: string;
                    /** @description Password. */
                    password: string;
                    /**
                     * @description `body` (default): return the refresh token in the response. `cookie`: set it as an HttpOnly cookie, which scripts cannot read.
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["accounts.Wrong"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.log_out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": {
                    /** @description Refresh token. Default: the one in the cookie. */
                    refresh_token?: string | null;
                };
            };
        };
        responses: {
            /** @description The session has ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.change_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "current_password": "correct horse battery",
                 *       "new_password": "staple battery horse"
                 *     }
                 */
                "application/json": {
                    /** @description Current password. */
                    current_password: string;
                    /**
                     * @description `false` revokes all API keys of the account.
                     * @default false
                     */
                    keep_api_keys?: boolean;
                    /** @description New password: at least `min_password` characters (see `GET /auth/config`). */
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description The password was changed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.Wrong"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "refresh_token": "cmVmcmVzaA"
                 *     }
                 */
                "application/json": {
                    /** @description Refresh token. Default: the one in the cookie. */
                    refresh_token?: string | null;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.ask_for_reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ann@example.org"
                 *     }
                 */
                "application/json": {
                    /** @description E-mail address. */
                    email: string;
                };
            };
        };
        responses: {
            /** @description The request was accepted. The response does not reveal whether the account exists. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "check_mail"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "check_mail";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The server cannot send e-mail. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This server cannot send e-mail; ask an administrator for help"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.finish_reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "dG9rZW4",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    /** @description New password: at least `min_password` characters (see `GET /auth/config`). */
                    password: string;
                    /**
                     * @description `body` (default): return the refresh token in the response. `cookie`: set it as an HttpOnly cookie, which scripts cannot read.
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                    /** @description Token from the link. */
                    token: string;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["accounts.LinkNotValid"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.list_sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sessions": [
                     *         {
                     *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "user_agent": "Firefox",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "last_used_at": "2026-11-21T09:30:00.000Z",
                     *           "present": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        sessions: {
                            /** Format: date-time */
                            created_at: string;
                            /** Format: uuid */
                            id: string;
                            /** Format: date-time */
                            last_used_at: string;
                            /** @description Whether this is the session of the request. */
                            present: boolean | null;
                            /** @description `User-Agent` header of the log-in. */
                            user_agent: string | null;
                        }[];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.end_sessions": {
        parameters: {
            query?: {
                /** @description `true` also revokes all API keys. */
                revoke_api_keys?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions have ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.end_session": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the session, from the list of sessions.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended, or the account has no such session. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.sign_up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ann@example.org",
                 *       "password": "correct horse battery",
                 *       "referral_code": "K7QX4MPA"
                 *     }
                 */
                "application/json": {
                    /** @description E-mail address. */
                    email: string;
                    /** @description Name of the account's owner. */
                    name?: string | null;
                    /** @description Password: at least `min_password` characters (see `GET /auth/config`). */
                    password: string;
                    /** @description Referral code with which the user signs up. */
                    referral_code?: string | null;
                    /**
                     * @description `body` (default): return the refresh token in the response. `cookie`: set it as an HttpOnly cookie, which scripts cannot read.
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                    /** @description Setup code from the server's operator. Required if `GET /auth/config` contains `setup`. The account becomes `super_admin`. */
                    setup_code?: string | null;
                };
            };
        };
        responses: {
            201: components["responses"]["accounts.Tokens"];
            /** @description A confirmation e-mail will be sent. The response does not reveal whether the account exists; only the e-mail does. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "check_mail",
                     *       "proof": "c2VjcmV0"
                     *     }
                     */
                    "application/json": {
                        /** @description Proof for `POST /auth/verify`: proves that the same client made the sign-up. */
                        proof?: string;
                        /** @constant */
                        status: "check_mail";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description An account with this address exists. Returned only if the server does not verify addresses. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "There is an account with this address already"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "dG9rZW4",
                 *       "proof": "c2VjcmV0"
                 *     }
                 */
                "application/json": {
                    /** @description Password of the sign-up. Required unless `proof` is given. */
                    password?: string | null;
                    /** @description `proof` from the response to the sign-up. Required unless `password` is given. */
                    proof?: string | null;
                    /**
                     * @description `body` (default): return the refresh token in the response. `cookie`: set it as an HttpOnly cookie, which scripts cannot read.
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                    /** @description Token from the link. */
                    token: string;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["accounts.LinkNotValid"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.identity_webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the message, the same in every delivery attempt. `svix-id` is accepted as well. */
                "webhook-id"?: string;
                /** @description One or more signatures, separated by spaces, each in the form `v1,<base64>`. `svix-signature` is accepted as well. */
                "webhook-signature"?: string;
                /** @description Time of the delivery attempt in Unix seconds. `svix-timestamp` is accepted as well. */
                "webhook-timestamp"?: string;
                /** @description A value of the setting `accounts.identity_webhook.tokens`, instead of a signature. */
                "X-Webhook-Token"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "user.created",
                 *       "data": {
                 *         "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "email": "ann@example.org"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Data of the message. */
                    data?: unknown;
                    /** @description Type of the message. */
                    type?: unknown;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The message was processed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            /** @description The signature is invalid or too old. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "Invalid signature"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            /** @description The message requests an e-mail, and the server cannot send e-mail. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This server cannot send e-mail: configure the module mail"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The page has not changed since the version that the client has cached. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.asset": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the file, which contains a hash of its content.
                 * @example app.0123456789ab.js
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                    "text/css": string;
                    "text/javascript": string;
                    "text/plain": string;
                };
            };
            /** @description The file has not changed since the version that the client has cached. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.worker": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The script. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example self.addEventListener('push', show) */
                    "text/javascript": string;
                };
            };
            /** @description The script has not changed since the version that the client has cached. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Health"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.ask_unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Token from the link in the e-mail.
                 * @example 0191f2c0-7d5a-4b7e-9d2b-3c1f5a0e4b11
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            /** @description The link is unknown. The response is a page that states this. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Token from the link in the e-mail.
                 * @example 0191f2c0-7d5a-4b7e-9d2b-3c1f5a0e4b11
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "*/*": unknown;
                /**
                 * @example {
                 *       "List-Unsubscribe": "One-Click"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The address was unsubscribed. The page offers to undo this. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            /** @description The link is unknown. The response is a page that states this. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.callback": {
        parameters: {
            query?: {
                /** @description Authorization code, which the server exchanges for tokens. */
                code?: string;
                /** @description Error from the authorization server, instead of a code. */
                error?: string;
                /** @description Issuer (RFC 9207); must be the authorization server of the request. */
                iss?: string;
                /** @description `state` of the authorization request; identifies the profile. */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile is connected. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The profile was not connected; the page states the reason. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            /** @description Internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.client_document": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client metadata document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "https://app.example.org/mcp/oauth/client",
                     *       "redirect_uris": [
                     *         "https://app.example.org/mcp/oauth/callback"
                     *       ],
                     *       "token_endpoint_auth_method": "none"
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.ask_to_confirm": {
        parameters: {
            query?: {
                /** @description `ticket` from `connect_url`. */
                ticket?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The confirmation page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The link is invalid or expired. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.confirm": {
        parameters: {
            query?: {
                /** @description Token from the form of the confirmation page; bound to the cookie of the browser. */
                confirm?: string;
                /** @description `ticket` from `connect_url`. */
                ticket?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to the authorization server. */
            303: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The link is invalid or expired. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The browser did not open the confirmation page, or the token is wrong. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profiles, without credentials. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profiles": [
                     *         {
                     *           "profile_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "integration": null,
                     *           "display_name": "Docs",
                     *           "url": "https://mcp.example.org/mcp",
                     *           "connected": true
                     *         }
                     *       ],
                     *       "integrations": [
                     *         "crm"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description Names of the integrations that the operator offers. */
                        integrations: string[];
                        profiles: components["schemas"]["mcp_prebuilt.Profile"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Credentials that the integration requires. They are stored encrypted and never returned. */
                    credentials?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Display name. Default: the name of the integration, or the URL. */
                    display_name?: string | null;
                    /** @description Name of an offered integration. Required unless `url` is given. */
                    integration?: string | null;
                    /** @description OAuth settings for the server in `url`. All members are optional. Not allowed with `integration`. */
                    oauth?: {
                        /** @description Client id at the authorization server. Default: the client registers itself. */
                        client_id?: string;
                        /** @description Client secret. Requires `issuer`. */
                        client_secret?: string;
                        /**
                         * @description How access tokens are obtained. `authorization_code` (default): with the user's consent. `client_credentials`: with the credentials of the client alone. `id_jag`: with an identity assertion of the user's identity provider.
                         * @enum {unknown}
                         */
                        grant?: "authorization_code" | "client_credentials" | "id_jag";
                        /** @description For `id_jag`: client id of this server at the identity provider. */
                        idp_client_id?: string;
                        /** @description For `id_jag`: client secret of this server at the identity provider. */
                        idp_client_secret?: string;
                        /** @description For `id_jag`: identity provider of the user's organization. */
                        idp_issuer?: string;
                        /** @description The only authorization server that may be used. Default: the one that the MCP server names. */
                        issuer?: string;
                        /** @description Id of the private key (`kid`). */
                        key_id?: string;
                        /** @description Private key in PEM format for client authentication with a signed JWT. Requires `issuer`. */
                        private_key?: string;
                        /** @description Scopes to request, instead of those that the server asks for. */
                        scope?: string;
                        /** @description For `id_jag`: the user's identity token from the identity provider. Required for `id_jag`. */
                        subject_token?: string;
                        /**
                         * @description For `id_jag`: type of `subject_token`.
                         * @default id_token
                         * @enum {unknown}
                         */
                        subject_token_type?: "id_token" | "saml2" | "refresh_token";
                        /** @description Client authentication at the token endpoint. Default: chosen from the methods that the authorization server supports. */
                        token_endpoint_auth_method?: string;
                    } & {
                        [key: string]: unknown;
                    };
                    /**
                     * @description Transport of the server in `url`.
                     * @default http
                     * @enum {unknown}
                     */
                    type?: "http" | "sse" | null;
                    /** @description URL of an MCP server. Required unless `integration` is given. */
                    url?: string | null;
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description The new profile. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "integration": "crm",
                     *       "display_name": "crm"
                     *     }
                     */
                    "application/json": components["schemas"]["mcp_prebuilt.Profile"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the profile.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["mcp_prebuilt.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile was deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.connect": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the profile.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["mcp_prebuilt.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connect_url": "https://run.example.org/mcp/oauth/connect?ticket=abc",
                     *       "expires_in": 600
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uri
                         * @description Link to open in the user's browser.
                         */
                        connect_url: string;
                        /** @description Time until the link expires, in seconds. */
                        expires_in: number;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp_prebuilt.Failed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp_prebuilt.Failed"];
        };
    };
    "host.metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics in the Prometheus text format, version 0.0.4. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example runyard_http_requests_total 12 */
                    "text/plain": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.deliveries": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Deliveries"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Devices"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.add_device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Device"];
        responses: {
            200: components["responses"]["notifications.Said"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.drop_device": {
        parameters: {
            query?: {
                /**
                 * @description Name of the push provider, case-insensitive. Default: the device is removed for every provider.
                 * @example expo
                 */
                provider?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The registered device token, or the `id` of a listed device, percent-encoded.
                 * @example ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]
                 */
                device_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Said"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
                /** @description `true` returns only unread notifications. Case-insensitive. */
                unread?: ("true" | "false") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Inbox"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read_all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox_stream": {
        parameters: {
            query?: {
                /** @description Same as the `Last-Event-ID` header, for clients that cannot set headers. */
                last_event_id?: number;
            };
            header?: {
                /** @description Resume after the event with this id. Default: send only new events. */
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Stream"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "notifications.inbox_stream_token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Token"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.unread_count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.UnreadCount"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Preferences"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Preferences"];
        responses: {
            200: components["responses"]["notifications.ChangedPreferences"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Settings"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Settings"];
        responses: {
            200: components["responses"]["notifications.ChangedSettings"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.web_push_key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.WebPushKey"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.webhook": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the orchestrator driver, or `orchestrator`.
                 * @example orchestrator
                 */
                orchestrator: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Webhook"];
        responses: {
            200: components["responses"]["notifications.Ok"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.openapi": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI 3.1 document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.1",
                     *       "info": {
                     *         "title": "Runyard",
                     *         "version": "0.1.0"
                     *       },
                     *       "paths": {}
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.presence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Presence"];
        responses: {
            200: components["responses"]["notifications.Done"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.files": {
        parameters: {
            query?: {
                /**
                 * @description Path of the directory, relative to `/workspace`. Default: `/workspace` itself. If the path does not exist, a name that differs only in Unicode normalization or in special spaces is accepted. If several names match, the response is a 400 that lists them.
                 * @example uploads
                 */
                path?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the project: `project_id` in the response of a start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ProjectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries of the directory. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "path": "uploads",
                     *       "files": [
                     *         {
                     *           "name": "report.pdf",
                     *           "kind": "file",
                     *           "size": 48211,
                     *           "modified_unix_us": 1795258800000000
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        files: components["schemas"]["runs.File"][];
                        /** @description Path of the directory, relative to `/workspace`. */
                        path: string;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownFile"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.file_content": {
        parameters: {
            query: {
                /** @description Maximum number of bytes to return, at most 16 MiB. Default: 16 MiB. */
                limit?: number;
                /** @description Position of the first byte to return. */
                offset?: number;
                /**
                 * @description Path of the file, relative to `/workspace`. If the path does not exist, a name that differs only in Unicode normalization or in special spaces is accepted. If several names match, the response is a 400 that lists them.
                 * @example uploads/report.pdf
                 */
                path: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the project: `project_id` in the response of a start.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ProjectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The requested bytes, as an attachment. */
            200: {
                headers: {
                    /** @description Size of the complete file in bytes. */
                    "X-File-Size"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example Total: 12 */
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownFile"];
            /** @description The file is larger than 16 MiB. Request it in parts with `offset` and `limit`. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The file is larger than 16.0 MB: request parts of it with offset and limit"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The node is ready. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ready",
                     *       "reasons": []
                     *     }
                     */
                    "application/json": components["schemas"]["host.Readiness"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            /** @description The node cannot serve requests at the moment, or has too many connections (`CONNECTION_LIMIT`). */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "not_ready",
                     *       "reasons": [
                     *         {
                     *           "room": "db",
                     *           "message": "the database does not respond"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["host.Readiness"] | components["schemas"]["host.Error"];
                };
            };
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.reference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The page has not changed since the version that the client has cached. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.of_thread_alias": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` in the response of the start that created it.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Runs"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.list_threads": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of threads. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "threads": [
                     *         {
                     *           "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "project_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "title": "What changed in the log",
                     *           "created_at": "2026-11-21T11:00:00.000Z",
                     *           "agent_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "model_name": "mock/basic",
                     *           "latest_run": {
                     *             "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *             "status": "completed",
                     *             "agent_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *             "model_name": "mock/basic",
                     *             "mode": "agent",
                     *             "memory_enabled": true
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                        threads: components["schemas"]["runs.Thread"][];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.get_thread": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` in the response of the start that created it.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "project_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "title": "What changed in the log",
                     *       "created_at": "2026-11-21T11:00:00.000Z",
                     *       "agent_id": null,
                     *       "model_name": null,
                     *       "latest_run": null
                     *     }
                     */
                    "application/json": components["schemas"]["runs.Thread"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.delete_thread": {
        parameters: {
            query?: {
                /** @description `true` stops the runs of the thread first, instead of returning 409. Case-insensitive. */
                force?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` in the response of the start that created it.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread was deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The thread has a run in progress. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The thread has a run in progress"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.of_thread": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` in the response of the start that created it.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Runs"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.messages": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description Maximum number of items per page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description `asc`: oldest first. `desc`: newest first. Case-insensitive.
                 * @example asc
                 */
                order?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` in the response of the start that created it.
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of messages. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messages": [
                     *         {
                     *           "message_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "created_at": "2026-11-21T11:00:00.000Z",
                     *           "role": "user",
                     *           "content": "What changed in the log since yesterday"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        messages: components["schemas"]["runs.Message"][];
                        /** @description Value for `cursor` to get the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
}
