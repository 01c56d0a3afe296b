// The model of model.mjs as a process of its own.
import { serve } from './apart.mjs';
import { startModel } from './model.mjs';

serve({ start: async (options) => (await startModel(options)).url });
