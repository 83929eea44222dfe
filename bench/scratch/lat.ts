import { withRig } from '../rig.js';
import { readFileSync, readdirSync } from 'node:fs';
import { execSync } from 'node:child_process';
const gw=()=>execSync("pgrep -f 'main.js serve|main.ts serve|processes/gateway' || true").toString().trim().split('\n').map(Number);
function threads(){const out:Record<string,number>={};for(const pid of gw()){ let t:string[]=[];try{t=readdirSync(`/proc/${pid}/task`)}catch{continue};if(t.length<5)continue;for(const tid of t){try{const st=readFileSync(`/proc/${pid}/task/${tid}/stat`,'utf8');const m=/\((.*)\) \S (.*)/s.exec(st)!;const f=m[2]!.split(' ');const sch=readFileSync(`/proc/${pid}/task/${tid}/schedstat`,'utf8').split(' ');out[`${pid}/${tid} ${m[1]} u${f[10]} s${f[11]}`.replace(/ u.*/,'')]=Number(sch[0])/1e3;}catch{}}}return out;}
const diff=(a:Record<string,number>,b:Record<string,number>,n:number)=>Object.entries(b).map(([k,v])=>[k,Math.round((v-(a[k]??0))/n)] as const).filter(([,v])=>v>3).sort((x,y)=>y[1]-x[1]).map(([k,v])=>`${k}:${v}`).join('  ');
const model='gpt-4o-mini';
const signal=new AbortController().signal;
const [rate=600, secs=5, warm=6, rounds=2]=process.argv.slice(2).map(Number);
const env=Object.fromEntries((process.env.GW??'').split(',').filter(Boolean).map(p=>p.split('=') as [string,string]));
await withRig({models:{[model]:{chunks:50,chunkSize:5}},environment:env},{progress:()=>{},signal} as never,async(rig)=>{
  console.log('pid',await (async()=>'')());
  await rig.measure('tallygate',{model,stream:false,seconds:warm,pace:{connections:32}});
  for(let r=0;r<rounds;r++) for(const route of ['proxy','tallygate']){
    const t0=threads();
    const m=await rig.measure(route,{model,stream:false,seconds:secs,pace:{perSecond:rate}});
    const c=(m as any).cpu; const per=(k:string)=>Math.round((c[k]??0)*1e6/m.sent)||JSON.stringify(c[k]);
    if(route==='tallygate')console.log(diff(t0,threads(),m.sent));
    console.log(route,'p50',m.latencyMs.p50.toFixed(2),'p99',m.latencyMs.p99.toFixed(2),'sent',m.sent,JSON.stringify(c));
  }
});


process.exit(0);
