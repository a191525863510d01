#!/usr/bin/env bash
# Deploys the templates beside it with the AWS CLI alone. parameters.md lists the parameters.
set -euo pipefail

usage() {
  cat <<'TEXT'
./deploy.sh --bucket BUCKET [--prefix PREFIX/] [--region REGION] [--dry-run | --links] [Name=value ...]

  --bucket   S3 bucket of the region, for the assets; the same one for every deployment
  --prefix   what the keys begin with; default: hyperpod-cdk/VERSION/
  --region   default: the region of the AWS CLI
  --dry-run  check everything, print the commands, change nothing
  --links    upload, then print a link for each stack that opens the console's form, filled in
TEXT
}

refuse() {
  echo "$*" >&2
  exit 2
}

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

manifest() { # KEY: the text that it has in the manifest
  sed -n "s/^ \"$1\": \"\(.*\)\",\$/\1/p" "$folder/manifest.json"
}

parameters_of() { # STACK: the names of its parameters
  sed -n '/^ "Parameters": {$/,/^ }/s/^  "\([A-Za-z0-9]*\)": {$/\1/p' "$folder/templates/$1.json"
}

last_line() { # the reason in what the AWS CLI said
  sed '/^[[:space:]]*$/d' | tail -n 1 | sed 's/^aws: //'
}

bucket='' prefix='' region='' mode=deploy overrides=()
while [ $# -gt 0 ]; do
  case $1 in
    --bucket | --prefix | --region)
      [ $# -ge 2 ] || refuse "$1: needs a value; ./deploy.sh --help"
      case $1 in
        --bucket) bucket=$2 ;;
        --prefix) prefix=$2 ;;
        --region) region=$2 ;;
      esac
      shift
      ;;
    --dry-run) mode=dry-run ;;
    --links) mode=links ;;
    --help | -h)
      usage
      exit 0
      ;;
    *=*) overrides+=("$1") ;;
    *) refuse "$1: is neither an option nor Name=value; ./deploy.sh --help" ;;
  esac
  shift
done

version=$(manifest version)
prefix=${prefix:-hyperpod-cdk/$version/}
[ -n "$bucket" ] || refuse "--bucket: is missing; name an S3 bucket of the region, which gets the assets"
[[ $prefix =~ ^([A-Za-z0-9._-]+/)*$ ]] || refuse "--prefix: '$prefix' must be names of letters, digits and ._- with a slash after each"

tags=()
while IFS= read -r line; do tags+=("$line"); done < <(
  sed -n '/^ "tags": {$/,/^ }/s/^  "\(.*\)": "\(.*\)",\{0,1\}$/\1=\2/p' "$folder/manifest.json"
)

stacks=(platform)
for file in "$folder"/templates/*.json; do
  name=$(basename "$file" .json)
  [ "$name" = platform ] || stacks+=("$name")
done

# The last one given counts.
given() { # PARAMETER: its value, if it is given
  local each value=''
  for each in ${overrides[@]+"${overrides[@]}"}; do
    [ "${each%%=*}" != "$1" ] || value=${each#*=}
  done
  echo "$value"
}

all_parameters=$(for stack in "${stacks[@]}"; do parameters_of "$stack"; done | sort -u)
for each in ${overrides[@]+"${overrides[@]}"}; do
  name=${each%%=*}
  case $name in
    AssetsBucket | AssetsPrefix) refuse "$name: comes from --bucket and --prefix; leave it out" ;;
  esac
  grep -qx "$name" <<<"$all_parameters" || refuse "$name: is not a parameter of these templates; parameters.md lists them"
done
deployment=$(given DeploymentName)
deployment=${deployment:-$(manifest deployment)}

sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }
while IFS=$'\t' read -r file expected; do
  [ -e "$folder/$file" ] || refuse "$file: is missing; take the whole folder, or make it again with \`make templates\`"
  [ "$(sum "$folder/$file")" = "$expected" ] || refuse "$file: is not the file that manifest.json lists; take the whole folder again"
done < <(sed -n 's/^  "\([^"]*\)": "\([0-9a-f]\{64\}\)",\{0,1\}$/\1'$'\t''\2/p' "$folder/manifest.json")

command -v aws >/dev/null || refuse "aws: is not installed; https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
region=${region:-${AWS_REGION:-${AWS_DEFAULT_REGION:-$(aws configure get region || true)}}}
[ -n "$region" ] || refuse "--region: is missing, and the AWS CLI has none; give one, such as --region us-west-2"
export AWS_REGION=$region AWS_DEFAULT_REGION=$region AWS_PAGER=''

said=$(aws sts get-caller-identity --query Account --output text 2>&1) ||
  refuse "AWS takes no credentials of yours: $(last_line <<<"$said"); set AWS_PROFILE, or log in"
account=$said
home=$(aws s3api get-bucket-location --bucket "$bucket" --query LocationConstraint --output text 2>&1) ||
  refuse "--bucket: $bucket: $(last_line <<<"$home"); \`aws s3 mb s3://$bucket --region $region\` makes it"
case $home in
  None | null) home=us-east-1 ;;
  EU) home=eu-west-1 ;;
esac
[ "$home" = "$region" ] || refuse "--bucket: $bucket is in $home, but Lambda takes code from a bucket of $region only; name another bucket"

deployed() { # STACK PARAMETER: Name=value as the stack has it; nothing if there is no stack
  aws cloudformation describe-stacks --stack-name "$deployment-$1" --output text 2>/dev/null \
    --query "Stacks[0].Parameters[?ParameterKey=='$2'].join('=', [ParameterKey, ParameterValue])" || true
}
for name in $(manifest fixed); do
  for each in ${overrides[@]+"${overrides[@]}"}; do
    [ "${each%%=*}" = "$name" ] || continue
    before=$(deployed platform "$name")
    [ -z "$before" ] || [ "$before" = "$each" ] ||
      refuse "$each: the deployment has $before, which cannot be changed: what is in it would be replaced; leave it out, or deploy under another DeploymentName"
  done
done

values_for() { # STACK: a line Name=value for each parameter that is given
  local name value
  for name in $(parameters_of "$1"); do
    case $name in
      AssetsBucket) value=$bucket ;;
      AssetsPrefix) value=${prefix}assets/ ;;
      DeploymentName) value=$deployment ;;
      *) value=$(given "$name") ;;
    esac
    [ -z "$value" ] || echo "$name=$value"
  done
}

run() { # a command that changes something
  if [ "$mode" = dry-run ]; then
    echo "+ $(printf '%q ' "$@")"
  else
    "$@"
  fi
}

encoded() { # TEXT: as a URL has it
  local text=$1 index character
  for ((index = 0; index < ${#text}; index++)); do
    character=${text:index:1}
    case $character in
      [A-Za-z0-9._~-]) printf %s "$character" ;;
      *) printf %%%02X "'$character" ;;
    esac
  done
}

link() { # STACK: a URL of the console's form
  local console=console.aws.amazon.com suffix=amazonaws.com line query
  case $region in
    cn-*) console=console.amazonaws.cn suffix=amazonaws.com.cn ;;
    us-gov-*) console=console.amazonaws-us-gov.com ;;
  esac
  query="templateURL=$(encoded "https://$bucket.s3.$region.$suffix/${prefix}templates/$1.json")"
  query+="&stackName=$(encoded "$deployment-$1")"
  while read -r line; do
    query+="&param_${line%%=*}=$(encoded "${line#*=}")"
  done < <(values_for "$1")
  echo "https://$console/cloudformation/home?region=$region#/stacks/quickcreate?$query"
}

deploy() { # STACK
  local stack="$deployment-$1" line values=()
  while read -r line; do values+=("$line"); done < <(values_for "$1")
  if ! run aws cloudformation deploy --stack-name "$stack" --template-file "$folder/templates/$1.json" \
    --s3-bucket "$bucket" --s3-prefix "${prefix}deployed" --capabilities CAPABILITY_IAM \
    --no-fail-on-empty-changeset ${tags[@]+--tags "${tags[@]}"} \
    --parameter-overrides ${values[@]+"${values[@]}"}; then
    echo "$stack: did not deploy; its latest failures, if it had begun:" >&2
    aws cloudformation describe-stack-events --stack-name "$stack" --max-items 200 --output text \
      --query "StackEvents[?contains(ResourceStatus, 'FAILED')].[LogicalResourceId, ResourceStatusReason]" \
      2>/dev/null | grep -v 'Resource creation cancelled' | head -n 3 >&2 || true
    return 1
  fi
  case " $(manifest protected) " in
    *" $1 "*) run aws cloudformation update-termination-protection --stack-name "$stack" \
      --enable-termination-protection --output text --query "'Protected from deletion'" ;;
  esac
}

echo "Deployment $deployment in account $account, region $region; assets in s3://$bucket/$prefix"
# An asset's name is a digest of what is in it, so one that is there is the same.
run aws s3 sync --only-show-errors --size-only "$folder/assets" "s3://$bucket/${prefix}assets"
if [ "$mode" = links ]; then
  run aws s3 sync --only-show-errors "$folder/templates" "s3://$bucket/${prefix}templates"
  for stack in "${stacks[@]}"; do link "$stack"; done
  exit 0
fi

deploy platform
processes=()
for stack in "${stacks[@]:1}"; do
  deploy "$stack" 2>&1 | sed "s/^/$deployment-$stack: /" &
  processes+=($!)
done
failed=0
for process in "${processes[@]}"; do wait "$process" || failed=1; done
[ $failed = 0 ] || exit 1
[ "$mode" = dry-run ] || aws cloudformation describe-stacks --stack-name "$deployment-platform" \
  --output text \
  --query "Stacks[0].Outputs[?OutputKey=='EKSClusterName' || OutputKey=='GrantAdminCommand'].[OutputKey, OutputValue]"
